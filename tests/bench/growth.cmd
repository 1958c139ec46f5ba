sh growth.sh "200 400" straight branchy nests
