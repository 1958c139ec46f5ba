# The functions of the module do not use Python's own names, which entries may hide.
import ast
import builtins

import common
import model

with open(model.__file__, encoding="utf-8") as f:
    tree = ast.parse(f.read())
functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
used = set()
for function in functions:
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and hasattr(builtins, node.id):
                used.add("%s in %s" % (node.id, function.name))
print(len(functions) > 40, sorted(used))
