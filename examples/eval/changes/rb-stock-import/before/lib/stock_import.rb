# frozen_string_literal: true

require "json"
require_relative "stock_store"

# Import of the hourly stock file.
class StockImport
  def initialize(store)
    @store = store
  end

  # Imports the file and returns the number of articles.
  def run(path)
    levels = JSON.parse(File.read(path, encoding: "UTF-8")).fetch("levels")
    @store.update(levels)
    levels.size
  end
end
