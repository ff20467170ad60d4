# frozen_string_literal: true

require "digest"
require "openssl"
require_relative "partner"

# Authentication of partners by API key.
class ApiKey
  FORMAT = /\A([a-z0-9]{2,20})\.([A-Za-z0-9]{40})\z/

  # `partners` maps short names to partners.
  def initialize(partners)
    @partners = partners
  end

  # Returns the partner of the key, nil if the key is not valid.
  def authenticate(key)
    match = FORMAT.match(key.to_s.scrub)
    return nil unless match

    partner = @partners[match[1]]
    return nil unless partner

    partner if valid_secret?(partner, match[2])
  end

  private

  def valid_secret?(partner, secret)
    given = Digest::SHA256.hexdigest(secret)
    hashes = [partner.secret_hash, partner.next_secret_hash].compact
    hashes.map { |hash| OpenSSL.fixed_length_secure_compare(hash, given) }.any?
  end
end
