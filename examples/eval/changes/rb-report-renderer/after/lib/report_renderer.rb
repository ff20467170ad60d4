# frozen_string_literal: true

require_relative "renderers"

# Renders reports in the format of the request.
class ReportRenderer
  class UnknownFormat < StandardError; end

  FORMATS = %w[csv html text].freeze
  DEFAULT = "html"
  CONTENT_TYPES = {
    "csv" => "text/csv",
    "html" => "text/html",
    "text" => "text/plain"
  }.freeze

  Result = Struct.new(:content_type, :body, keyword_init: true)

  # `format` is the text of the query parameter, nil if the parameter is missing.
  def initialize(format)
    wanted = format || DEFAULT
    @format = FORMATS.find { |name| name.casecmp(wanted)&.zero? }
    raise UnknownFormat, "unknown format" unless @format
  end

  def render(rows)
    Result.new(
      content_type: "#{CONTENT_TYPES.fetch(@format)}; charset=utf-8",
      body: renderer.render(rows)
    )
  end

  private

  def renderer
    Renderers.const_get(@format.capitalize, false).new
  end
end
