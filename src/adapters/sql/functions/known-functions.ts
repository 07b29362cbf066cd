/** The functions of each dialect that are known to read only, and the words that stand before a bracket without being any. */
import type { Dialect } from '../dialects.js';
import { mariadbCatalogue } from './mariadb-catalogue.js';
import { postgresCatalogue } from './postgres-catalogue.js';
import { trinoFunctions } from './trino-functions.js';

/** What the grammar of SQL itself makes of words before a bracket; such words cannot name a function. */
const RESERVED = `
  all and any array as between by case distinct else end except exists fetch for from group having in intersect is join
  lateral like limit not offset on or order row select similar some then to union unique using values when
  where window with 
`;

/** Types with a length, such as `varchar(10)`, and what the standard writes like functions. */
const STANDARD = `
  bit boolean cast char character coalesce current_date current_time current_timestamp date dec decimal double extract float
  greatest grouping int integer interval least local localtime localtimestamp nchar nullif numeric nvarchar overlay position
  precision real smallint bigint substring time timestamp treat trim varbinary varchar varying
  avg corr count covar_pop covar_samp cume_dist dense_rank first_value lag last_value lead listagg max min nth_value ntile
  percent_rank percentile_cont percentile_disc rank row_number stddev stddev_pop stddev_samp sum var_pop var_samp variance
  json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize json_table json_value
  cube explain filter materialized ordinality over partition recursive rollup set sets unnest within zone
`;

/** Of the grammar, of later versions than the catalogue, and harmless although the catalogue calls them volatile. */
const POSTGRES = `
  first ilike next bernoulli repeatable system symmetric asymmetric escape analyze verbose format
  collation normalize xmlattributes xmlconcat xmlelement xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
  columns path passing rows cross inner left right full natural only
  any_value array_reverse array_sample array_shuffle array_sort casefold crc32 crc32c date_add date_subtract erf erfc gamma lgamma
  json_array json json_array_elements pg_input_is_valid pg_basetype random_normal to_bin to_oct unicode_assigned unicode_version
  uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 xmltext starts_with to_regtypemod range_agg
  clock_timestamp gen_random_uuid random timeofday pg_blocking_pids pg_database_size pg_indexes_size pg_is_in_recovery
  pg_partition_ancestors pg_partition_tree pg_relation_size pg_table_size pg_total_relation_size
`;

const MYSQL = `
  xor div mod rlike regexp binary escape against match force ignore index key for partition columns nested path member of
  separator sounds straight_join cross inner left right natural recursive offset unsigned signed
  tinyint mediumint enum year blob text json geometry
  ascii char charset convert current_role current_user curtime last_insert_id day default dayofmonth date_add datediff hour if insert left
  localtime localtimestamp minute month quarter repeat replace right second sysdate timestampadd
  timestampdiff truncate user utc_date utc_time utc_timestamp validate_password_strength week year
  any_value bin_to_uuid uuid_to_bin is_uuid regexp_like json_pretty json_schema_valid json_schema_validation_report
  json_storage_free json_storage_size statement_digest statement_digest_text format_bytes format_pico_time weight_string
  icu_version ps_current_thread_id ps_thread_id random_bytes row_number natural_sort_key json_key_value json_array_intersect
  json_object_filter_keys json_object_to_array vec_distance vec_distance_euclidean vec_distance_cosine vec_fromtext vec_totext
  point linestring polygon multipoint multilinestring multipolygon geometrycollection
  geohash st_geohash st_latfromgeohash st_longfromgeohash st_pointfromgeohash
  st_area st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_boundary st_buffer st_buffer_strategy st_centroid st_collect
  st_contains st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance st_distance_sphere st_endpoint
  st_envelope st_equals st_exteriorring st_frechetdistance st_geomcollfromtext st_geomcollfromwkb st_geometryn
  st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb st_hausdorffdistance st_interiorringn st_intersection
  st_intersects st_isclosed st_isempty st_isring st_issimple st_isvalid st_latitude st_length st_linefromtext
  st_lineinterpolatepoint st_linefromwkb st_longitude st_makeenvelope st_numgeometries st_numinteriorrings st_numpoints
  st_overlaps st_pointatdistance st_pointfromtext st_pointfromwkb st_pointn st_pointonsurface st_polyfromtext st_polyfromwkb
  st_relate st_simplify st_srid st_startpoint st_swapxy st_symdifference st_touches st_transform st_union st_validate
  st_within st_x st_y mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequal mbrequals mbrintersects mbroverlaps mbrtouches
  mbrwithin
`;

/** From the pages of Transact-SQL on functions; those of the folders of the server, its logs and its sessions are left out. */
const MSSQL = `
  apply first next cross outer inner left right full top percent tablesample option pivot unpivot for only repeatable index 
  forceseek nolock hash merge loop of escape contains containstable freetext freetexttable openjson
  binary datetime datetime2 datetimeoffset money smalldatetime smallmoney text ntext tinyint uniqueidentifier xml sql_variant max
  abs acos app_name applock_mode ascii asin atan atn2 avg binary_checksum ceiling char charindex checksum checksum_agg choose
  col_length col_name columnproperty compress concat concat_ws convert cos cot count_big cume_dist current_timezone
  current_timezone_id databasepropertyex datalength date_bucket dateadd datediff datediff_big datefromparts datename datepart
  datetime2fromparts datetimefromparts datetimeoffsetfromparts datetrunc day db_id db_name decompress degrees difference
  eomonth error_line error_message error_number error_severity error_state exp file_id file_name filegroup_id filegroup_name
  floor format formatmessage fulltextcatalogproperty generate_series getansinull getdate getutcdate grouping_id
  has_perms_by_name hashbytes host_id host_name ident_current ident_incr ident_seed iif index_col indexkey_property
  indexproperty is_member is_rolemember is_srvrolemember isdate isjson isnull isnumeric json_modify json_path_exists left len
  log log10 lower ltrim min_active_rowversion month nchar newid object_definition object_id object_name
  object_schema_name objectproperty objectpropertyex original_login parse parsename patindex permissions pi power quotename
  radians rand regexp_count regexp_instr regexp_like regexp_matches regexp_replace regexp_split_to_table regexp_substr
  replace replicate reverse right round rowcount_big rtrim schema_id schema_name scope_identity serverproperty
  session_context sessionproperty sign sin smalldatetimefromparts soundex space sql_variant_property sqrt square stats_date
  stdev stdevp str string_agg string_escape string_split stuff suser_id suser_name suser_sid suser_sname switchoffset
  sysdatetime sysdatetimeoffset sysutcdatetime tan timefromparts todatetimeoffset translate try_cast try_convert try_parse
  type_id type_name typeproperty unicode upper user_id user_name var varp xact_state year bit_count get_bit left_shift
  right_shift set_bit approx_count_distinct approx_percentile_cont approx_percentile_disc edit_distance
  edit_distance_similarity jaro_winkler_distance jaro_winkler_similarity vector_distance vector_norm vector_normalize
`;

/** Functions a statement may call. */
export interface KnownFunctions {
  /** In lower case. */
  readonly functions: ReadonlySet<string>;
  /** Words of the grammar, in lower case; never the name of a function. */
  readonly reserved: ReadonlySet<string>;
}

const RESERVED_WORDS = wordsOf(RESERVED);

/** The functions and words of each dialect. */
export const knownFunctions: Readonly<Record<Dialect, KnownFunctions>> = {
  postgres: known(postgresCatalogue, POSTGRES),
  mysql: known(mariadbCatalogue, MYSQL),
  mssql: known(MSSQL),
  trino: known(trinoFunctions),
};

function known(...lists: readonly string[]): KnownFunctions {
  return { functions: wordsOf(STANDARD, ...lists), reserved: RESERVED_WORDS };
}

function wordsOf(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.trim().split(/\s+/)));
}
