# frozen_string_literal: true

require "cgi"
require "csv"

# One class per report format; `render` takes rows of strings.
module Renderers
  class Csv
    def render(rows)
      rows.map { |row| CSV.generate_line(row) }.join
    end
  end

  class Html
    def render(rows)
      lines = rows.map do |row|
        "<tr>#{row.map { |cell| "<td>#{CGI.escapeHTML(cell)}</td>" }.join}</tr>"
      end
      "<table>#{lines.join}</table>"
    end
  end

  class Text
    def render(rows)
      rows.map { |row| row.join("\t") }.join("\n")
    end
  end
end
