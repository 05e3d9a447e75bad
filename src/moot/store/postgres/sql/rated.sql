-- Did an earlier try of this rating arrive? Its time identifies it.
select * from debate_sessions where id = :id and user_rating = :rating and updated_at = :now
