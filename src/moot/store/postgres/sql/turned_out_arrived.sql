-- Did an earlier try arrive? Its time identifies it.
select * from debate_sessions
where id = :id and turned_out is not distinct from :turned_out::text and updated_at = :now
