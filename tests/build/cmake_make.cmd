# A project built by make.
sh consumer.sh "Unix Makefiles" make
