-- Names and times as the feeds write them; they stand in no file of the warehouse.
create or replace temp macro gtfs_time(seconds) as
    format('{:02d}:{:02d}:{:02d}', seconds // 3600, seconds // 60 % 60, seconds % 60);
create or replace temp macro tides_time(instant) as strftime(instant, '%Y-%m-%dT%H:%M:%S.%fZ');
-- when a bus was seen to pass; null where only a prediction says when it did
create or replace temp macro observed_at(passed_at, arrival_quality) as
    case when arrival_quality in ('evidenced', 'bounded') then passed_at end;
