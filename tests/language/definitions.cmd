sh each.sh definitions.fsm --interp -Wno-unknown-attribute -Wno-idle-attribute
