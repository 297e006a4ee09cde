-- Names and times as the feeds write them; they stand in no file of the warehouse.
create or replace temp macro gtfs_time(seconds) as
    format('{:02d}:{:02d}:{:02d}', seconds // 3600, seconds // 60 % 60, seconds % 60);
create or replace temp macro tides_time(instant) as strftime(instant, '%Y-%m-%dT%H:%M:%S.%fZ');
-- when a bus was seen to pass; null where only a prediction says when it did
create or replace temp macro observed_at(passed_at, arrival_quality) as
    case when arrival_quality in ('evidenced', 'bounded') then passed_at end;
-- what TIDES calls a type of route of GTFS, also an extended one; a line of which nothing is told is taken for a bus
create or replace temp macro tides_mode(route_type) as
    case
        when route_type is null or route_type = 3 or route_type between 700 and 799 then 'Bus'
        when route_type = 0 or route_type between 900 and 999 then 'Tram / Streetcar / Light rail'
        when route_type = 1 or route_type between 400 and 499 then 'Subway / Metro'
        when route_type = 2 or route_type between 100 and 199 then 'Rail'
        when route_type = 4 or route_type between 1000 and 1099 then 'Ferry'
        when route_type = 5 then 'Cable tram'
        when route_type = 6 or route_type between 1300 and 1399 then 'Aerial lift'
        when route_type = 7 or route_type between 1400 and 1499 then 'Funicular'
        when route_type = 11 or route_type between 800 and 899 then 'Trolleybus'
        when route_type = 12 then 'Monorail'
    end;
