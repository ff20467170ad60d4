# frozen_string_literal: true

# `secret_hash` is set, `next_secret_hash` is nil except during a change of keys.
# Both are 64 lower case hex digits.
Partner = Struct.new(:name, :secret_hash, :next_secret_hash, keyword_init: true)
