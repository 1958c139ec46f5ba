. ./engines.sh
fails failures.fsm pick 'x=[1, 2]' k=2
fails failures.fsm pick 'x=[1, 2]' k=-1
fails failures.fsm pick 'x=[]' k=0
fails failures.fsm divide a=1 b=0
fails failures.fsm rest a=1 b=0
fails failures.fsm least 'x=[]'
fails failures.fsm negative n=-1
fails failures.fsm counted n=0
