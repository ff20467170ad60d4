#!/bin/sh
# Fixes what assay hands to it on standard input. Usually that is an agent.
cat > request.tmp
grep -q 'greets_by_name' request.tmp && sed -i 's/"Hello $1"/"Hello, $1!"/' greet.sh
grep -q 'farewell' request.tmp && printf '\nfarewell() {\n    echo "Goodbye, $1!"\n}\n' >> greet.sh
rm request.tmp
echo "All issues are fixed."
