#!/bin/sh
# The tests, as lines of the Test Anything Protocol.
. ./greet.sh
echo 1..2
if [ "$(greet Ada)" = "Hello, Ada!" ]; then echo "ok 1 - greets_by_name"; else echo "not ok 1 - greets_by_name"; fi
if [ -n "$(greet "")" ]; then echo "ok 2 - greets_nobody"; else echo "not ok 2 - greets_nobody"; fi
