-- Keys of tenants are stored as digests, and of what lists show the middle is left out. Keys that are stored like that already stay.
update runnel.tokens set record = json_strip_nulls(json_build_object(
  'digest', token_digest,
  'betaDigest', beta_digest,
  'shown', case
    when length(record->>'token') <= 40 then repeat('*', length(record->>'token'))
    else left(record->>'token', 14) || repeat('*', length(record->>'token') - 20) || right(record->>'token', 6)
  end,
  'betaShown', case
    when length(record->>'beta') <= 16 then repeat('*', length(record->>'beta'))
    else left(record->>'beta', 4) || repeat('*', length(record->>'beta') - 8) || right(record->>'beta', 4)
  end,
  'agentId', record->'agentId',
  'createdAt', record->'createdAt'
)) where record->>'token' is not null;
