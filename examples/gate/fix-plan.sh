#!/bin/sh
# Fixes `plan.md` by the instructions on standard input.
guidance=$(cat)
case $guidance in *decision:DL-001*)
    sed 's/is an argument | |/is an argument | Nothing has to be configured |/' plan.md > fixed.md
    mv fixed.md plan.md
esac
case $guidance in *milestone:M2*)
    printf '\nAcceptance Criteria:\n\n- `README` mentions `greet`\n' >> plan.md
esac
