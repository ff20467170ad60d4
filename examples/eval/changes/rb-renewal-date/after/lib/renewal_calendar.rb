# frozen_string_literal: true

require_relative "subscription"

# Renewal dates, see docs/renewals.md.
module RenewalCalendar
  MONTHS = { monthly: 1, yearly: 12 }.freeze

  module_function

  # Returns the date of the next renewal, nil for a cancelled subscription.
  def next_renewal(subscription)
    return nil if subscription.cancelled

    last = subscription.last_renewed_on || subscription.started_on
    last >> MONTHS.fetch(subscription.interval)
  end

  # Returns the subscriptions that renew on or before the day, the earliest first.
  def due(subscriptions, day)
    subscriptions
      .map { |subscription| [next_renewal(subscription), subscription] }
      .select { |date, _| date && date <= day }
      .sort_by { |date, subscription| [date, subscription.id] }
      .map(&:last)
  end
end
