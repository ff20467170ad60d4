#!/bin/sh
# Greets whoever is named.
greet() {
    echo "Hello $1"
}
