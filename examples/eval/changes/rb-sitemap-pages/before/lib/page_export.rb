# frozen_string_literal: true

require "date"

# `changed_on` is a Date.
Page = Struct.new(:path, :changed_on, :published, keyword_init: true)

# Reads pages in batches.
class PageExport
  BATCH = 500

  def initialize(pages)
    @pages = pages
  end

  # Yields batches of published pages, full ones except for the last. For speed the same
  # array is filled again for each batch; a block that keeps it has to copy it.
  def each_batch
    batch = []
    @pages.each do |page|
      next unless page.published

      batch << page
      next if batch.size < BATCH

      yield batch
      batch.clear
    end
    yield batch unless batch.empty?
  end
end
