-- agency
select
    $operator as agency_id,
    $publisher as agency_name,
    $url as agency_url,
    timezone as agency_timezone,
    $language as agency_lang
from quality.publication;

-- stops
select
    stop_code as stop_id,
    stop_code,
    coalesce(stop_name, stop_code) as stop_name,
    latitude as stop_lat,
    longitude as stop_lon
from core.stops
where operator = $operator and stop_code in (select stop_id from feed_stop_times)
order by stop_id;

-- routes
select
    line_code as route_id,
    $operator as agency_id,
    line_number as route_short_name,
    concat_ws(' - ', terminus_outbound, terminus_inbound) as route_long_name,
    coalesce(route_type, 3) as route_type
from core.latest_lines
where operator = $operator and line_code in (select route_id from feed_trips)
order by route_id;

-- trips
select
    route_id,
    service_id,
    trip_id,
    trip_headsign,
    case direction when 'outbound' then 0 when 'inbound' then 1 end as direction_id
from feed_trips
order by route_id, trip_id;

-- stop_times
select *
from feed_stop_times
order by trip_id, stop_sequence;

-- calendar_dates
select
    service_id,
    strftime(service_date, '%Y%m%d') as date,
    1 as exception_type
from (select distinct service_id, unnest(service_dates) as service_date from feed_trips)
order by service_id, date;

-- attributions
select
    row_number() over (order by is_operator, organization_name) as attribution_id,
    organization_name,
    is_producer,
    is_operator,
    attribution_url
from (
    values
    ($publisher, 1, case when $publisher = $operator then 1 else 0 end, $url),
    ($operator, 0, 1, null)
) as organizations(organization_name, is_producer, is_operator, attribution_url)
where is_producer = 1 or organization_name != $publisher
order by attribution_id;

-- feed_info
select
    $publisher as feed_publisher_name,
    $url as feed_publisher_url,
    $language as feed_lang,
    $first as feed_start_date,
    $last as feed_end_date,
    getvariable('feed_version') as feed_version,
    $url as feed_contact_url,
    $comment as feed_comment
