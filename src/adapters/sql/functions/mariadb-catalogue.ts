/** Written by `scripts/generate-sql-functions.ts`; what is missing belongs into `known-functions.ts`. */

/** Functions that read only, as the catalogue of MariaDB lists them. */
export const mariadbCatalogue = `
  abs acos add_months adddate addtime aes_decrypt aes_encrypt asin atan atan2 bin bit_and bit_count bit_length
  bit_or bit_xor cast ceil ceiling char_length character_length chr coalesce coercibility collation column_check
  column_exists column_json column_list compress concat concat_ws connection_id conv convert_tz cos cot count crc32
  crc32c cume_dist curdate curtime database date_add date_format date_sub datediff dayname dayofmonth dayofweek
  dayofyear decode degrees dense_rank des_decrypt des_encrypt elt encode encrypt exp export_set extract
  extractvalue field find_in_set first_value floor format found_rows from_base64 from_days from_unixtime greatest
  group_concat hex ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa instr is_ipv4 is_ipv4_compat is_ipv4_mapped
  is_ipv6 isnull json_array json_array_append json_array_insert json_arrayagg json_compact json_contains
  json_contains_path json_depth json_detailed json_equals json_exists json_extract json_insert json_keys
  json_length json_loose json_merge json_merge_patch json_merge_preserve json_normalize json_object json_objectagg
  json_overlaps json_pretty json_query json_quote json_remove json_replace json_search json_set json_type
  json_unquote json_valid json_value lag last_day lcase lead least length lengthb ln locate log log10 log2 lower
  lpad ltrim make_set makedate maketime max md5 median microsecond mid min mod monthname natural_sort_key now
  nth_value ntile nullif nvl nvl2 oct octet_length ord percent_rank percentile_cont percentile_disc period_add
  period_diff pi position pow power quarter quote radians rand random_bytes rank regexp_instr regexp_replace
  regexp_substr reverse round row_count rpad rtrim schema schemas sec_to_time session_user sformat sha sha1 sha2
  sign sin soundex space sqrt std stddev stddev_pop stddev_samp str_to_date strcmp subdate substr substring
  substring_index subtime sum sys_guid system_user tan time_format time_to_sec timediff to_base64 to_char to_days
  to_seconds trim ucase uncompress uncompressed_length unhex unix_timestamp updatexml upper uuid uuid_short var_pop
  var_samp variance version week weekday weekofyear yearweek
`;
