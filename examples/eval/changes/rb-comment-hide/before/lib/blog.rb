# frozen_string_literal: true

class NotFound < StandardError; end
class NotAllowed < StandardError; end

User = Struct.new(:id, :staff, keyword_init: true)
Post = Struct.new(:id, :author_id, keyword_init: true)
Comment = Struct.new(:id, :post_id, :author_id, :text, :hidden_by, keyword_init: true)

# Posts and comments by id.
class BlogStore
  def initialize
    @posts = {}
    @comments = {}
  end

  attr_reader :posts, :comments

  # Returns the post; raises NotFound.
  def post(id)
    @posts.fetch(id) { raise NotFound, "post #{id}" }
  end

  # Returns the comment with the id, below whichever post; raises NotFound.
  def comment(id)
    @comments.fetch(id) { raise NotFound, "comment #{id}" }
  end
end
