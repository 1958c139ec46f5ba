# A project built by Ninja.
sh consumer.sh Ninja ninja
