-- Names and times as the feeds write them; they stand in no file of the warehouse.
create or replace temp macro gtfs_time(seconds) as
    format('{:02d}:{:02d}:{:02d}', seconds // 3600, seconds // 60 % 60, seconds % 60);
create or replace temp macro tides_time(instant) as strftime(instant, '%Y-%m-%dT%H:%M:%S.%fZ');
create or replace temp macro scheduled_trip_id(
    line_code, direction, service_code, leg, service_seconds, duplicate_number
) as
    concat_ws(
        '_', line_code, direction, coalesce(service_code, ''), md5(coalesce(leg, ''))[:4], gtfs_time(service_seconds),
        duplicate_number
    );
