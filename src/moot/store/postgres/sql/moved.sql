-- Did an earlier try of this move arrive? Its time identifies it.
select * from debate_sessions where id = :id and status = :to and updated_at = :now
