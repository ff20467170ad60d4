# frozen_string_literal: true

require_relative "delivery"

# The morning lists of the drivers.
class RouteLists
  UNPLANNED = "unplanned"

  RouteList = Struct.new(:route, :deliveries, :kilograms, keyword_init: true)

  def initialize(deliveries)
    @deliveries = deliveries
  end

  # Returns the lists in the order of the route names.
  def lists
    grouped.sort.map { |route, deliveries| list(route, deliveries) }
  end

  private

  def grouped
    groups = Hash.new([])
    @deliveries.each do |delivery|
      groups[delivery.route || UNPLANNED] <<= delivery
    end
    groups
  end

  def list(route, deliveries)
    RouteList.new(
      route: route,
      deliveries: deliveries.sort_by { |delivery| [delivery.stop || 0, delivery.id] },
      kilograms: kilograms(deliveries)
    )
  end

  def kilograms(deliveries)
    deliveries.sum(&:grams).fdiv(1000).ceil
  end
end
