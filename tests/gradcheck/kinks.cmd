sh try.sh "kinked 'x=[0,1,-2]'" 'kinked n=50'
