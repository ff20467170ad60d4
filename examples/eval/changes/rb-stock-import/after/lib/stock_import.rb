# frozen_string_literal: true

require "json"
require "logger"
require_relative "stock_store"

# Import of the hourly stock file.
class StockImport
  class InvalidFile < StandardError; end

  def initialize(store, logger: Logger.new($stderr))
    @store = store
    @logger = logger
  end

  # Imports the file and returns the number of articles.
  def run(path)
    levels = parse(File.read(path, encoding: "UTF-8"))
    @store.update(levels)
    @logger.info("imported #{levels.size} stock levels from #{path}")
    levels.size
  rescue StandardError => e
    @logger.error("import of #{path} failed: #{e.message}")
    0
  end

  private

  def parse(text)
    levels = JSON.parse(text).fetch("levels")
    bad = levels.reject { |_, level| level.is_a?(Integer) && level >= 0 }
    raise InvalidFile, "invalid levels for #{bad.keys.first(5).join(', ')}" if bad.any?

    levels
  end
end
