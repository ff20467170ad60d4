# frozen_string_literal: true

require "date"

# A subscription. `last_renewed_on` is nil until the first renewal; renewals are never
# skipped or moved by hand.
Subscription = Struct.new(
  :id, :interval, :started_on, :last_renewed_on, :cancelled, keyword_init: true
)
