# Without numpy: results are memoryviews.
sh run.sh values
