fsmc repl < session.txt 2>&1
