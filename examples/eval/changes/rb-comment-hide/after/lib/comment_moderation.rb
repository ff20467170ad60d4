# frozen_string_literal: true

require_relative "blog"

# Hiding and showing of comments: POST /posts/:post_id/comments/:comment_id/hide and /show.
class CommentModeration
  def initialize(store)
    @store = store
  end

  # Hides a comment below a post.
  def hide(user, post_id, comment_id)
    comment = moderated_comment(user, post_id, comment_id)
    comment.hidden_by ||= user.id
    comment
  end

  # Shows a hidden comment again.
  def show(user, post_id, comment_id)
    comment = moderated_comment(user, post_id, comment_id)
    comment.hidden_by = nil
    comment
  end

  private

  # Returns the comment if the user may moderate it.
  def moderated_comment(user, post_id, comment_id)
    post = @store.post(post_id)
    unless user.staff || post.author_id == user.id
      raise NotAllowed, "user #{user.id} may not moderate post #{post_id}"
    end

    @store.comment(comment_id)
  end
end
