# Arguments of wrong types, ranks and shapes.
sh run.sh wrong_types
