sh try.sh smooth 'smooth n=2 --trials=1 --seed=7' 'smooth x=[1,2] a=3' pairs matrix 'logs --range=0.5,2' singles picked "'looped' k=3" 'looped k=3 --interp' 'smooth --exec'
