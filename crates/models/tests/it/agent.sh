#!/bin/sh
. "$STAGE/script"
