"""Objects of a module that outlive its globals, as they do where other modules keep threads or states until the
interpreter ends, are freed without them."""
import ast
import sys

import common
import model


def kept(freed):
    """The context of this thread, which notes that it is freed."""
    model.grid(10, 0.5)
    context = model._local.context
    free = context.free
    context.free = lambda handle: freed.append(free(handle))
    return context


def globals_of_finalizers():
    """The names of the module that methods use which run when an object is freed."""
    with open(model.__file__, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name == "__del__":
            own = [a.arg for a in function.args.args]
            yield [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and n.id not in own]


print("names used:", *globals_of_finalizers())
freed = []
sys.unraisablehook = lambda problem: print("ignored:", problem.exc_value)
context = kept(freed)
del model._local.context
del context
print("freed:", freed)
context = kept(freed)
names = vars(model)
for name in list(names):
    names[name] = None
del names, model
del context
print("freed without globals:", freed)

# As the interpreter ends, in sys: what is there is freed when other modules are cleared, names with _ before stderr.
sys.unraisablehook = sys.__unraisablehook__
sys.modules.pop("model")
import model

model.grid(10, 0.5)
sys._kept = model, model._local.context
