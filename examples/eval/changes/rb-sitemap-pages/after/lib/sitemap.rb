# frozen_string_literal: true

require "cgi"
require_relative "page_export"

# Sitemap files of the site.
class Sitemap
  HEAD = %(<?xml version="1.0" encoding="UTF-8"?>)
  NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"

  def initialize(base_url, export)
    @base_url = base_url
    @chunks = []
    export.each_batch { |batch| @chunks << batch }
  end

  # Returns the sitemap files, content by name.
  def files
    @chunks.each_with_index.to_h { |pages, index| [file_name(index), urlset(pages)] }
  end

  # Returns the index that names the files.
  def index
    entries = @chunks.each_index.map { |i| "<sitemap><loc>#{url("/#{file_name(i)}")}</loc></sitemap>" }
    %(#{HEAD}<sitemapindex xmlns="#{NAMESPACE}">#{entries.join}</sitemapindex>)
  end

  private

  def file_name(index)
    "sitemap-#{index + 1}.xml"
  end

  def url(path)
    CGI.escapeHTML("#{@base_url}#{path}")
  end

  def urlset(pages)
    entries = pages.map do |page|
      "<url><loc>#{url(page.path)}</loc><lastmod>#{page.changed_on.iso8601}</lastmod></url>"
    end
    %(#{HEAD}<urlset xmlns="#{NAMESPACE}">#{entries.join}</urlset>)
  end
end
