# frozen_string_literal: true

# A delivery. `route` is a name, nil if the delivery has not been planned; `stop` is nil then
# too. `grams` is a whole number.
Delivery = Struct.new(:id, :route, :stop, :grams, keyword_init: true)
