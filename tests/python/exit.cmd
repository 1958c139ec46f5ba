# A context is freed when the globals of the module are gone, too.
sh run.sh exit
