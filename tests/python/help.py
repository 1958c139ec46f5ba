# What help() shows of entries, with the comments of the source.
import inspect

import common
import model

print(model.__doc__)
print(model.__all__)
for name in ["scalars", "pair", "nested", "element", "ratio", "positive", "fit"]:
    function = getattr(model, name)
    print("%s%s" % (name, inspect.signature(function)))
    print(inspect.getdoc(function), end="\n\n")
