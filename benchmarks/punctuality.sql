-- Compares a warehouse (`built`) with the truth of the emulator (`truth_*`) over the rehearsed time (`span`).
-- Every select returns rows of the printed table: figure, goal, measured, naive.
create table calls as  -- added trips have no schedule
select
    actual.service_date, actual.trip_id, trips.live_id, actual.line_code, actual.direction, actual.stop_code,
    actual.stop_sequence, scheduled.scheduled_at, actual.passed_at, trips.scheduled_departure_at, trips.outcome,
    trips.is_added, actual.is_recorded
from truth_actual_passages as actual
left join truth_scheduled_passages as scheduled using (service_date, trip_id, stop_code, stop_sequence)
inner join truth_trips as trips using (service_date, trip_id);

create table visits as
select row_number() over () as visit, * from built.core.stop_visits;

create table polls as
select key as stop_code, received_at as polled_at
from built.core.requests where endpoint = 'passages' and is_good;

create table matched_visits as  -- each visit with the call that it is about
select visits.*, calls.passed_at as true_at, calls.scheduled_at as true_scheduled_at,
    calls.trip_id as true_trip, calls.service_date as true_date, calls.line_code as true_line,
    calls.direction as true_direction, calls.stop_sequence as true_sequence, calls.is_added
from visits inner join calls
    on visits.stop_code = calls.stop_code
    and visits.listed_trip_id = calls.live_id
    and visits.passed_at between calls.passed_at - interval 45 minute and calls.passed_at + interval 45 minute
qualify row_number() over (
    partition by visits.visit order by abs(epoch_us(visits.passed_at) - epoch_us(calls.passed_at))
) = 1;

select
    'visits observed live: with line and direction; right', '>= 98 %, >= 99.5 %',
    printf('%.2f %%, %.2f %% (%d visits)', 100 * avg((direction is not null)::int),
        100 * avg((line_code = true_line and direction = true_direction)::int) filter (direction is not null), count(*)),
    ''
from matched_visits where n_polls > 0;

create table listings as
select trip_id, stop_code, service_date, observed_at, predicted_at
from built.staging.passages where not is_theoretical and trip_id is not null and predicted_at is not null;

create table naive as
select last_listings.*, min(polls.polled_at) as first_without_at
from (
    select trip_id, stop_code, service_date, max(observed_at) as last_seen_at,
        arg_max(predicted_at, observed_at) as last_predicted_at
    from listings group by all
) as last_listings
left join polls on polls.stop_code = last_listings.stop_code
    and polls.polled_at > last_listings.last_seen_at + interval 1 second
    and polls.polled_at < last_listings.last_seen_at + interval 2 hour
group by all;

create table estimates as
select matched_visits.*, naive.last_predicted_at as naive_last,
    naive.last_seen_at + (naive.first_without_at - naive.last_seen_at) / 2 as naive_middle,
    naive.first_without_at as naive_first
from matched_visits left join naive
    on matched_visits.listed_trip_id = naive.trip_id and matched_visits.stop_code = naive.stop_code
    and matched_visits.service_date = naive.service_date;

create macro errors_of(estimated_at, truth) as
    printf('%.0f s, %.0f s', median(abs(epoch(estimated_at) - epoch(truth))),
        quantile_cont(abs(epoch(estimated_at) - epoch(truth)), 0.95));

select
    'passed_at of evidenced visits: median, p95 absolute error', '<= 10 s, <= 40 s',
    printf('%s (%d visits)', errors_of(passed_at, true_at), count(*)),
    printf('%s | %s | %s', errors_of(naive_last, true_at), errors_of(naive_middle, true_at),
        errors_of(naive_first, true_at))
from estimates where arrival_quality = 'evidenced';

select
    'the same of all visits observed live', '', printf('%s (%d visits)', errors_of(passed_at, true_at), count(*)),
    printf('%s | %s | %s', errors_of(naive_last, true_at), errors_of(naive_middle, true_at),
        errors_of(naive_first, true_at))
from estimates;

select
    'truth within [passed_after, passed_before], evidenced and bounded', '>= 99.5 %',
    printf('%.2f %% of %d', 100 * avg((true_at between passed_after - interval 1 second
        and passed_before + interval 1 second)::int), count(*)),
    printf('%.1f %% between the last poll with it and the first without',
        100 * avg((true_at between naive_middle - (naive_first - naive_middle) and naive_first)::int))
from estimates where arrival_quality in ('evidenced', 'bounded');

create table countdowns as  -- each live prediction with the true passage that it is about, observed or not
select
    calls.service_date, calls.line_code, bands.horizon_from_seconds, epoch(calls.passed_at - listings.predicted_at) as true_error,
    true_error between bands.early_seconds and bands.late_seconds as is_within,
    epoch(naive.last_predicted_at - listings.predicted_at) as naive_error
from listings
inner join calls on listings.trip_id = calls.live_id and listings.stop_code = calls.stop_code
    and listings.predicted_at between calls.passed_at - interval 45 minute and calls.passed_at + interval 45 minute
inner join built.core.prediction_bands as bands
    on epoch(listings.predicted_at - listings.observed_at) >= bands.horizon_from_seconds
    and epoch(listings.predicted_at - listings.observed_at) < bands.horizon_to_seconds
left join naive on listings.trip_id = naive.trip_id and listings.stop_code = naive.stop_code
    and listings.service_date = naive.service_date
where calls.is_recorded
qualify row_number() over (
    partition by listings.trip_id, listings.stop_code, listings.observed_at, listings.predicted_at
    order by abs(epoch_us(listings.predicted_at) - epoch_us(calls.passed_at))
) = 1;

select
    printf('countdowns from %d min ahead: mean absolute error', horizon_from_seconds // 60), 'within 3 s of the truth',
    printf('%.1f s, from %.1f to %.1f (truth of all %.1f s)', point, low, high, truth), printf('%.1f s', naive)
from (
    select horizon_from_seconds, sum(absolute_error_seconds_sum) / sum(n) as point,
        sum(absolute_error_low_seconds_sum) / sum(n) as low, sum(absolute_error_high_seconds_sum) / sum(n) as high
    from built.marts.prediction_accuracy group by horizon_from_seconds
) inner join (
    select horizon_from_seconds, avg(abs(true_error)) as truth, avg(abs(naive_error)) as naive
    from countdowns group by horizon_from_seconds
) using (horizon_from_seconds)
order by horizon_from_seconds;

select
    printf('the same from %d min ahead, within the band; 95 %% intervals of lines: given, hold, median width', horizon_from_seconds // 60), '92 to 98 %',
    printf('%.1f %% of %d judged, %d not judged (truth of all %.1f %%); %.1f %% of %d, %.1f %%, %.1f points', 100 * sum(n_within) / sum(n),
        sum(n), sum(n_not_judged), 100 * sum(n_true_within) / sum(n_true), 100 * avg((share is not null)::int), count(*),
        100 * avg((true_share between low and high)::int) filter (share is not null), 100 * median(high - low)), ''
from (
    select *, within_band_share as share, within_band_share_low as low, within_band_share_high as high
    from built.marts.prediction_accuracy
) inner join (
    select service_date, horizon_from_seconds, line_code, count(*) as n_true, sum(is_within::int) as n_true_within, avg(is_within::int) as true_share
    from countdowns group by all
) using (service_date, horizon_from_seconds, line_code)
group by horizon_from_seconds order by horizon_from_seconds;

create table trip_truth as  -- the true trip of most of its visits
select service_date, trip_id, true_trip, true_date, n_visits from (
    select service_date, trip_id, true_trip, true_date, count(*) as n_visits,
        row_number() over (
            partition by service_date, trip_id order by count(*) desc, avg(is_signed::int) desc, true_trip
        ) as nth
    from (
        select service_date, trip_id, true_trip, true_date, true as is_signed from matched_visits
        union all
        select visits.service_date, visits.trip_id, truth.trip_id, truth.service_date,
            -- where two trips of a line are scheduled for the same time, the destination decides
            starts_with(upper(trips.headsign), upper(visits.destination)) as is_signed
        from visits inner join truth_scheduled_passages as truth
            on visits.stop_code = truth.stop_code and visits.scheduled_at = truth.scheduled_at
            and visits.line_code = truth.line_code and visits.direction = truth.direction
            and visits.n_polls = 0 and visits.schedule_source = 'theoretical'
        inner join truth_trips as trips
            on trips.trip_id = truth.trip_id and trips.service_date = truth.service_date
            and (visits.listed_trip_id is null or visits.listed_trip_id = trips.live_id)
    )
    group by service_date, trip_id, true_trip, true_date
) where nth = 1;

create table due_trips as
select * from truth_trips, span where scheduled_departure_at >= begins and scheduled_departure_at < ends;

create table matched as
select trips.service_date, trips.trip_id, trips.n_live, trip_truth.true_trip, trip_truth.true_date,
    trips.scheduled_departure_at as matched_at, due_trips.scheduled_departure_at as true_departure_at,
    trips.scheduled_departure_at = due_trips.scheduled_departure_at
        and departures.line_code = due_trips.line_code
        and departures.direction = due_trips.direction as is_right
from built.core.trips as trips
inner join trip_truth using (service_date, trip_id)
inner join due_trips on due_trips.trip_id = trip_truth.true_trip and due_trips.service_date = trip_truth.true_date
left join built.intermediate.departure_matches as departures using (service_date, trip_id);

create table naive_matched as  -- the departure of the line nearest to the first time at the origin
select matched.*, nearest.departure_at as naive_at
from matched left join (
    select first_visits.service_date, first_visits.trip_id, departures.departure_at
    from (
        select service_date, trip_id, line_code, direction, min(coalesce(scheduled_at, passed_at)) as at
        from visits where position = 1 group by all
    ) as first_visits
    inner join built.intermediate.timetable_departures as departures
        on departures.service_date = first_visits.service_date and departures.line_code = first_visits.line_code
        and departures.direction = first_visits.direction
    qualify row_number() over (partition by first_visits.service_date, first_visits.trip_id
        order by abs(epoch(departures.departure_at) - epoch(first_visits.at))) = 1
) as nearest using (service_date, trip_id);

select
    'trip -> scheduled departure: precision, recall', '>= 99.5 %, >= 98 % (vehicle ids 98, 95)',
    printf('%.1f %%, %.1f %% (%d trips)', 100.0 * count(case when is_right then 1 end) / nullif(count(matched_at), 0),
        100.0 * count(distinct case when is_right then (true_trip, true_date) end)
        / count(distinct (true_trip, true_date)), count(distinct (true_trip, true_date))),
    printf('%.1f %%, %.1f %% nearest departure to the first passage at the origin',
        100.0 * count(case when naive_at = true_departure_at then 1 end) / nullif(count(naive_at), 0),
        100.0 * count(case when naive_at = true_departure_at then 1 end) / count(*))
from naive_matched;

select
    'the same of trips observed live', '',
    printf('%.1f %%, %.1f %% (%d trips)', 100.0 * count(case when is_right then 1 end) / nullif(count(matched_at), 0),
        100.0 * count(distinct case when is_right then (true_trip, true_date) end)
        / count(distinct (true_trip, true_date)), count(distinct (true_trip, true_date))),
    ''
from naive_matched where n_live > 0;

create table separate_trips as  -- no other trip of the line and direction leaves within five minutes
select service_date, trip_id
from due_trips
window w as (partition by service_date, line_code, direction order by scheduled_departure_at)
qualify coalesce(scheduled_departure_at - lag(scheduled_departure_at) over w > interval 5 minute, true)
    and coalesce(lead(scheduled_departure_at) over w - scheduled_departure_at > interval 5 minute, true);

select
    'the same of trips without another of their line within five minutes', '',
    printf('%.1f %%, %.1f %% (%d trips)', 100.0 * count(case when is_right then 1 end) / nullif(count(matched_at), 0),
        100.0 * count(distinct case when is_right then (true_trip, true_date) end)
        / count(distinct (true_trip, true_date)), count(distinct (true_trip, true_date))),
    ''
from naive_matched inner join separate_trips as separate on true_trip = separate.trip_id and true_date = separate.service_date;

select
    'added trips observed live: matched to a departure, though they have none', '',
    coalesce(printf('%d of %d', count(distinct case when departures.trip_id is not null then true_trip end),
        count(distinct true_trip)), '-'), ''
from matched_visits left join built.intermediate.departure_matches as departures using (service_date, trip_id)
where matched_visits.is_added;

select
    printf('scheduled_at of %s: median, p95 absolute error', schedule_source),
    case schedule_source when 'pattern' then '<= 30 s' else '' end,
    printf('%s (%d visits)', errors_of(scheduled_at, true_scheduled_at), count(*)), ''
from matched_visits where schedule_source is not null and true_scheduled_at is not null
group by schedule_source order by schedule_source;

select 'evidenced visits with a schedule', '', printf('%.1f %%', 100 * avg((scheduled_at is not null)::int)), ''
from matched_visits where arrival_quality = 'evidenced';

create macro on_time(estimated_at, scheduled_at) as (epoch(estimated_at) - epoch(scheduled_at) between -60 and 359);

create table true_shares as
select line_code, avg(on_time(passed_at, scheduled_at)::int) as share, count(*) as n_calls
from calls, span where passed_at >= begins and passed_at < ends and scheduled_at is not null group by line_code;

create table naive_shares as
select avg(on_time(naive_last, scheduled_at)::int) as last, avg(on_time(naive_middle, scheduled_at)::int) as middle,
    avg(on_time(naive_first, scheduled_at)::int) as first
from estimates where scheduled_at is not null;

create table network as
select sum(share * n_calls) / sum(n_calls) as share, sum(n_calls) as n from true_shares;

create table ours as  -- as in marts.network_punctuality_daily, over the hours that were collected completely
select sum(n_passages * n_likely_on_time / n_likely) / sum(n_passages) as share
from (
    select
        sum(n_likely_on_time) as n_likely_on_time, sum(n_likely_early + n_likely_on_time + n_likely_late) as n_likely,
        greatest(sum(n_due), sum(n_scheduled)) as n_passages
    from built.marts.punctuality join built.core.service_days using (operator, service_date) cross join span
    where zero_at + service_hour * interval 1 hour >= begins and zero_at + (service_hour + 1) * interval 1 hour <= ends
    group by line_code, direction
)
where n_likely > 0;

select
    'network on-time share, against the truth of all calls: absolute error', '<= 0.5 points at 60, <= 0.2 at 300',
    printf('%.2f points (%.2f %%, truth %.2f %% of %d calls)', 100 * abs(ours.share - network.share),
        100 * ours.share, 100 * network.share, network.n::int),
    printf('%.2f | %.2f | %.2f points', 100 * abs(naive_shares.last - network.share),
        100 * abs(naive_shares.middle - network.share), 100 * abs(naive_shares.first - network.share))
from network, naive_shares, ours;

select
    'the same, against the truth of the visits with a known punctuality', '',
    printf('%.2f points (%d of %d visits)', 100 * abs(
        avg((punctuality_point = 'on_time')::int) - avg(on_time(true_at, true_scheduled_at)::int)), count(*), any_value(n.n)),
    printf('%.2f | %.2f | %.2f points',
        100 * abs(avg(on_time(naive_last, scheduled_at)::int) - avg(on_time(true_at, true_scheduled_at)::int)),
        100 * abs(avg(on_time(naive_middle, scheduled_at)::int) - avg(on_time(true_at, true_scheduled_at)::int)),
        100 * abs(avg(on_time(naive_first, scheduled_at)::int) - avg(on_time(true_at, true_scheduled_at)::int)))
from estimates, (select count(*) as n from visits where n_polls > 0) as n
where punctuality_point is not null and true_scheduled_at is not null;

create table call_kinds as  -- what is known of each call
select
    case
        when matched_visits.punctuality_point is not null then '1 punctuality known'
        when matched_visits.scheduled_at is not null then '2 observed, but not passing'
        when matched_visits.visit is not null then '3 observed, schedule unknown'
        else '4 never observed live'
    end as kind,
    calls.scheduled_departure_at < begins as is_before, calls.outcome = 'never_tracked' as is_untracked,
    on_time(calls.passed_at, calls.scheduled_at) as is_on_time
from calls cross join span
left join (
    select true_date, true_trip, true_sequence, min(visit) as visit, min(scheduled_at) as scheduled_at,
        min(punctuality_point) as punctuality_point
    from matched_visits group by all
) as matched_visits
    on calls.service_date = matched_visits.true_date and calls.trip_id = matched_visits.true_trip
    and calls.stop_sequence = matched_visits.true_sequence
where calls.passed_at >= begins and calls.passed_at < ends and calls.scheduled_at is not null;

select
    'true on-time share of all calls by what is known of them', '',
    string_agg(printf('%s %.1f %% of %d', kind[3:], share, n), '; ' order by kind),
    ''
from (select kind, 100 * avg(is_on_time::int) as share, count(*) as n from call_kinds group by kind);

select
    'of them, of trips under way when the collection began', '',
    coalesce(string_agg(printf('%s %.1f %% of %d', kind[3:], share, n), '; ' order by kind), 'none'),
    ''
from (select kind, 100 * avg(is_on_time::int) as share, count(*) as n from call_kinds where is_before group by kind);

select
    'of them, of trips that are never tracked', '',
    coalesce(printf('%.1f %% of %d; of the others %.1f %%',
        100 * avg(case when is_untracked then is_on_time::int end), count(case when is_untracked then 1 end),
        100 * avg(case when not is_untracked then is_on_time::int end)), 'none'),
    ''
from call_kinds;

create table line_days as
select matched_visits.true_line as line_code, count(*) as n_scheduled,
    count(case when punctuality = 'on_time' then 1 end) / count(*) as low,
    count(case when punctuality in ('on_time', 'indeterminate') then 1 end) / count(*) as high,
    avg(on_time(true_at, true_scheduled_at)::int) as share, any_value(true_shares.share) as share_of_all
from matched_visits inner join true_shares on matched_visits.true_line = true_shares.line_code
where scheduled_at is not null and true_scheduled_at is not null group by matched_visits.true_line;

select
    'line x day on-time share: truth within [low, high]', '>= 98 %',
    printf('%.1f %% of %d (mean width %.1f points); truth of all calls %.1f %%',
        100 * avg((share between low and high)::int), count(*), 100 * avg(high - low),
        100 * avg((share_of_all between low and high)::int)), ''
from line_days;

create macro hour_of_service(instant, zero_at) as floor(epoch(instant - zero_at) / 3600)::bigint;

create table headways as  -- between all buses, observed or not; by the scheduled hour of the later one
select
    service_date, line_code, direction, stop_code, hour_of_service(coalesce(scheduled_at, passed_at), zero_at) as service_hour,
    epoch(passed_at - lag(passed_at) over w) as headway
from calls join built.core.service_days using (service_date) window w as (partition by service_date, line_code, direction, stop_code order by passed_at);

create table due_headways as
select
    service_date, line_code, direction, stop_code, hour_of_service(scheduled_at, zero_at) as service_hour,
    epoch(scheduled_at - lag(scheduled_at) over w) as headway
from truth_scheduled_passages join built.core.service_days using (service_date)
window w as (partition by service_date, line_code, direction, stop_code order by scheduled_at);

create table published_cells as  -- every stop and hour of a frequent line-direction whose wait is published
select * from built.marts.headways
where is_frequent and coalesce(estimate_null_reason, 'interval too wide') = 'interval too wide';

create macro wait_minutes(squares, sums) as squares / (2 * sums) / 60;

create table waits as  -- by identity: of the same stops and hours, with every bus that passed
select daily.line_code, daily.direction, daily.estimated_ewt_seconds / 60 as ours,
    (daily.estimated_ewt_seconds_high - daily.estimated_ewt_seconds_low) / 60 as width,
    actual.wait - due.wait as truth, seen.wait as seen
from built.marts.headways_daily as daily
inner join (
    select service_date, line_code, direction, wait_minutes(sum(headway * headway), sum(headway)) as wait
    from headways semi join published_cells using (service_date, line_code, direction, stop_code, service_hour) group by all
) as actual using (service_date, line_code, direction)
inner join (
    select service_date, line_code, direction, wait_minutes(sum(headway * headway), sum(headway)) as wait
    from due_headways semi join published_cells using (service_date, line_code, direction, stop_code, service_hour) group by all
) as due using (service_date, line_code, direction)
left join (
    select service_date, line_code, direction, wait_minutes(sum(actual_seconds_squared_sum), sum(actual_seconds_sum))
        - wait_minutes(sum(scheduled_seconds_squared_sum), sum(scheduled_seconds_sum)) as wait
    from built.marts.headways where null_reason is null group by all
) as seen using (service_date, line_code, direction);

select
    'EWT of frequent line-directions, all published stops and hours: absolute error', 'median <= 0.05, worst <= 0.3 min',
    coalesce(printf('median %.2f, worst %.2f, mean %+.2f min, of %d line-directions', median(abs(ours - truth)),
        max(abs(ours - truth)), avg(ours - truth), count(ours)), 'none is published'),
    coalesce(printf('median %.2f, worst %.2f, mean %+.2f min by the headways observed', median(abs(seen - truth)),
        max(abs(seen - truth)), avg(seen - truth)), '')
from waits;

select
    'its 95 % interval: holds the truth; median width', '>= 92 %',
    coalesce(printf('%.1f %%; %.2f min', 100 * avg((abs(ours - truth) <= width / 2)::int), median(width)), 'none'), ''
from waits where ours is not null;

select
    'the same of each stop and hour', '',
    coalesce(printf('%.1f %% of %d; %.2f min; median error %.2f', 100 * avg((abs(ours - truth) <= width / 2)::int), count(*),
        median(width), median(abs(ours - truth))), 'none'), ''
from (
    select any_value(cells.estimated_ewt_seconds) / 60 as ours,
        any_value(cells.estimated_ewt_seconds_high - cells.estimated_ewt_seconds_low) / 60 as width,
        any_value(actual.wait) - wait_minutes(sum(due.headway ** 2), sum(due.headway)) as truth
    from published_cells as cells
    inner join (
        select service_date, line_code, direction, stop_code, service_hour, wait_minutes(sum(headway ** 2), sum(headway)) as wait
        from headways group by all
    ) as actual using (service_date, line_code, direction, stop_code, service_hour)
    inner join due_headways as due using (service_date, line_code, direction, stop_code, service_hour)
    where cells.estimated_ewt_seconds is not null
    group by cells.service_date, cells.line_code, cells.direction, cells.stop_code, cells.service_hour
);

create table observable_trips as  -- the first stop was polled from long before the departure until long after
select due_trips.service_date, due_trips.trip_id
from due_trips
inner join truth_scheduled_passages as origins
    on origins.service_date = due_trips.service_date and origins.trip_id = due_trips.trip_id
    and origins.stop_sequence = 1
inner join (
    select stop_code, polled_at, lag(polled_at) over (partition by stop_code order by polled_at) as previous_at
    from polls
) as polls on polls.stop_code = origins.stop_code
    and polls.polled_at between due_trips.scheduled_departure_at - interval 50 minute
    and due_trips.scheduled_departure_at + interval 20 minute
where due_trips.scheduled_departure_at + interval 20 minute <= due_trips.ends
group by all
having max(epoch(polled_at) - epoch(previous_at)) <= 600 and count(*) >= 5
    and bool_and(previous_at is not null);

create table tracked_lines as
select distinct line_code from truth_trips where live_from is not null;

create table trip_outcomes as
select truth.trip_id, truth.service_date, truth.outcome as true_outcome,
    truth.taken_off_at is not null as is_taken_off, departures.outcome,
    observable_trips.trip_id is not null as is_observable
from due_trips as truth
inner join tracked_lines using (line_code)
left join observable_trips using (service_date, trip_id)
left join built.core.scheduled_departures as departures
    on departures.service_date = truth.service_date and departures.line_code = truth.line_code
    and departures.direction = truth.direction and departures.departure_at = truth.scheduled_departure_at
    and departures.is_slash_variant = truth.is_slash_variant and departures.is_in_force
qualify row_number() over (partition by truth.service_date, truth.trip_id
    order by departures.duplicate_number) = 1;

select
    'not_run: precision, recall among observable trips', '>= 99 %, >= 90 %',
    printf('%s, %s; of those never taken off the list %s',
        coalesce(printf('%.0f %% of %d', 100.0 * count(case when outcome = 'not_run' and true_outcome = 'not_run' then 1 end)
            / nullif(count(case when outcome = 'not_run' then 1 end), 0),
            count(case when outcome = 'not_run' then 1 end)), '-'),
        coalesce(printf('%.0f %% of %d', 100.0 * count(case when outcome = 'not_run' and true_outcome = 'not_run'
            and is_taken_off and is_observable then 1 end)
            / nullif(count(case when true_outcome = 'not_run' and is_taken_off and is_observable then 1 end), 0),
            count(case when true_outcome = 'not_run' and is_taken_off and is_observable then 1 end)), '-'),
        coalesce(printf('%d of %d', count(case when outcome = 'not_run' and true_outcome = 'not_run'
            and not is_taken_off then 1 end),
            count(case when true_outcome = 'not_run' and not is_taken_off then 1 end)), '-')),
    ''
from trip_outcomes where true_outcome <> 'not_recorded';

create table naive_outcomes as  -- a departure without a live bus did not run
select trip_outcomes.*, seen.true_trip is null as is_naive_not_run
from trip_outcomes left join (select distinct true_trip, true_date from matched_visits) as seen
    on seen.true_trip = trip_outcomes.trip_id and seen.true_date = trip_outcomes.service_date;

select
    'the same, if a trip never observed live counts as not run', '', '',
    printf('%s, %s',
        coalesce(printf('%.0f %%', 100.0 * count(case when is_naive_not_run and true_outcome = 'not_run' then 1 end)
            / nullif(count(case when is_naive_not_run then 1 end), 0)), '-'),
        coalesce(printf('%.0f %%', 100.0
            * count(case when is_naive_not_run and true_outcome = 'not_run' and is_observable then 1 end)
            / nullif(count(case when true_outcome = 'not_run' and is_observable then 1 end), 0)), '-'))
from naive_outcomes where true_outcome <> 'not_recorded';

select
    printf('outcome of trips that really: %s', true_outcome), '',
    string_agg(printf('%s %d', outcome, n), ', ' order by n desc), ''
from (select true_outcome, coalesce(outcome, 'no departure') as outcome, count(*) as n from trip_outcomes group by all)
group by true_outcome order by true_outcome;

-- Each departure with the trip that was scheduled as it. Of trips that leave at the same time for the same destination,
-- which nothing tells apart, a departure has the one that it was matched with, or else one that is left.
create table departure_truth as
with pairs as (
    select departures.departure_key, departures.duplicate_number, truth.service_date, truth.trip_id, truth.outcome,
        coalesce(seen.true_trip = truth.trip_id, false) as is_matched
    from built.core.scheduled_departures as departures
    inner join truth_trips as truth
        on truth.service_date = departures.service_date and truth.line_code = departures.line_code
        and truth.direction = departures.direction and truth.scheduled_departure_at = departures.departure_at
        and truth.is_slash_variant = departures.is_slash_variant and ends_with(upper(departures.leg), upper(truth.headsign))
    left join built.intermediate.departure_matches as matches using (departure_key)
    left join trip_truth as seen on seen.service_date = matches.service_date and seen.trip_id = matches.trip_id
    where departures.is_in_force and not truth.is_added
),
first_choices as (
    select * from pairs where is_matched
    qualify row_number() over (partition by service_date, trip_id order by departure_key) = 1
),
others as (
    select pairs.*,
        dense_rank() over (partition by service_date, trip_id order by duplicate_number, departure_key) as nth_departure,
        dense_rank() over (partition by departure_key order by trip_id) as nth_trip
    from pairs anti join first_choices using (departure_key)
    where (service_date, trip_id) not in (select (service_date, trip_id) from first_choices)
)
select departure_key, service_date, trip_id, outcome from first_choices union all
select departure_key, service_date, trip_id, outcome from others where nth_departure = nth_trip;

create table due as  -- each passage due with the true one of the same departure, by identity
select * exclude (nth) from (
    select
        rows.*, truth.trip_id as true_trip, scheduled.scheduled_at as true_scheduled_at, actual.passed_at as true_at,
        actual.is_recorded,
        row_number() over (
            partition by rows.departure_key, rows.position order by abs(epoch(scheduled.scheduled_at - rows.scheduled_at))
        ) as nth
    from built.core.trip_trajectories as rows
    inner join departure_truth as truth using (departure_key)
    inner join truth_scheduled_passages as scheduled
        on scheduled.service_date = truth.service_date and scheduled.trip_id = truth.trip_id
        and scheduled.stop_code = rows.stop_code
    left join truth_actual_passages as actual
        on actual.service_date = truth.service_date and actual.trip_id = truth.trip_id
        and actual.stop_code = scheduled.stop_code and actual.stop_sequence = scheduled.stop_sequence
) where nth = 1;

create table ran as  -- those that ran, and were due while passages were polled
select due.*, on_time(true_at, true_scheduled_at)::int as is_on_time,
    arrival_quality in ('evidenced', 'bounded') as is_observed
from due cross join span
where true_at is not null and true_scheduled_at >= begins + interval 30 minute and true_scheduled_at < ends - interval 30 minute;

select
    'passages that ran: with a row in trip_trajectories', '',
    printf('%.2f %% of %d', 100 * count(ran.departure_key) / count(*), count(*)), ''
from calls cross join span
left join ran on ran.true_trip = calls.trip_id and ran.service_date = calls.service_date
    and ran.stop_code = calls.stop_code and ran.true_scheduled_at = calls.scheduled_at
where calls.scheduled_at >= begins + interval 30 minute and calls.scheduled_at < ends - interval 30 minute
    and not calls.is_added;

select
    'passages due, over the true ones', '0.98 to 1.03',  -- of departures that ran
    printf('%.3f (%d)', due.n / true_due.n, due.n), ''
from (
    select count(*) as n from built.core.trip_trajectories left join departure_truth using (departure_key), span
    where scheduled_at >= begins and scheduled_at < ends and outcome is distinct from 'not_run'
) as due cross join (
    select count(*) as n from calls, span
    where scheduled_at >= begins and scheduled_at < ends and outcome != 'not_run' and not is_added
) as true_due;

select
    'rows of trip_trajectories at stops where the departure does not call', '',
    printf('%.2f %% of %d', 100 * avg((due.departure_key is null)::int), count(*)), ''
from built.core.trip_trajectories as rows inner join departure_truth using (departure_key)
cross join span left join due using (departure_key, position)
where rows.scheduled_at >= begins and rows.scheduled_at < ends;

select
    printf('passed_at, %s: median, p90 absolute error', arrival_quality),
    case arrival_quality when 'interpolated' then '<= 25 s, <= 90 s' else '' end,
    printf('%.0f s, %.0f s (%d passages)', median(abs(epoch(passed_at - true_at))),
        quantile_cont(abs(epoch(passed_at - true_at)), 0.9), count(*)), ''
from ran group by arrival_quality order by arrival_quality;

select
    'bounds of every passage due: hold the truth', '>= 99.9 %',
    printf('%.3f %% of %d', 100 * avg((coalesce(true_at >= passed_after - interval 1 second, true)
        and coalesce(true_at <= passed_before + interval 1 second, true))::int), count(*)), ''
from ran;

use built;
create temp table travel_times as  -- over the whole span
from travel_times_between(date '1970-01-01', date '9999-12-31');
use memory;

create table true_travel_times as
select
    later.line_code, later.direction, earlier.stop_code as from_stop_code, later.stop_code as to_stop_code,
    earlier.position = 1 as is_from_origin, later.position = earlier.position + 1 as is_adjacent, count(*) as n,
    avg(epoch(later.true_at) - epoch(earlier.true_at)) as seconds
from due as later
inner join due as earlier using (departure_key)
where earlier.position in (1, later.position - 1) and earlier.position < later.position
    and later.is_recorded and earlier.is_recorded and later.true_at > earlier.true_at
group by all having count(*) >= 5;

select
    printf('mean travel times %s, of five trips or more: mean over these', kind), '',
    printf('%.1f s, truth %.1f s (%d pairs of stops)', sum(n * estimated_seconds) / sum(n), sum(n * seconds) / sum(n), count(*)),
    printf('%.1f s by the trips observed', sum(n_trips * observed_seconds) / sum(n_trips))
from (
    select case when is_adjacent then 'between neighbours' else 'from the origin' end as kind, truth.*, n_trips, estimated_seconds,
        observed_seconds
    from true_travel_times as truth inner join travel_times using (line_code, direction, from_stop_code, to_stop_code, is_from_origin, is_adjacent)
    left join (
        select line_code, direction, from_stop_code, to_stop_code, is_from_origin, is_adjacent,
            sum(seconds_sum) / nullif(sum(n_trips), 0) as observed_seconds
        from built.marts.travel_times group by all
    ) using (line_code, direction, from_stop_code, to_stop_code, is_from_origin, is_adjacent)
    where estimated_seconds is not null
) group by kind order by kind;

select
    printf('the same %s: given; their 95 %% interval holds the truth; median width', kind), '92 to 98 %',
    printf('%.1f %% of %d; %.1f %%; %.0f s; median error %.1f s, mean %+.1f s', 100 * avg((estimated_seconds is not null)::int), count(*),
        100 * avg((seconds between estimated_seconds_low and estimated_seconds_high)::int) filter (estimated_seconds is not null),
        median(estimated_seconds_high - estimated_seconds_low), median(abs(estimated_seconds - seconds)), avg(estimated_seconds - seconds)), ''
from (
    select case when is_adjacent then 'between neighbours' else 'from the origin' end as kind, *
    from true_travel_times inner join travel_times using (line_code, direction, from_stop_code, to_stop_code, is_from_origin, is_adjacent)
) group by kind order by kind;

select
    'probability of on time, unobserved passages: worst tenth, off the true share by', '<= 4 points',
    printf('%.1f points (%s)', max(abs(off)), string_agg(printf('%+.1f', off), ' ' order by tenth)), ''
from (
    select least(floor(on_time_probability * 10), 9) as tenth, 100 * (avg(is_on_time) - avg(on_time_probability)) as off
    from ran where not is_observed group by tenth
);

set variable n_dates = (select greatest(round(epoch(ends - begins) / 86400), 1) from span);

create macro half_width(variance, common, n, date_correlation) as  -- as the weekly and monthly marts have it
    1.96 * sqrt(variance * (1 + date_correlation * (getvariable('n_dates') - 1)) + common ** 2) / n;

create table class_estimates as  -- of the network, and of each line and direction: its shares by class, and its mean delay
with trips as (
    select ran.*, epoch(true_at) - epoch(true_scheduled_at) as true_delay, rules.* exclude (ruleset_version)
    from ran inner join built.core.rulesets as rules using (ruleset_version)
),
values as (
    select *, 'on_time' as name, on_time_probability as estimate, is_on_time as truth, on_time_variance as variance, common_error as common
    from trips union all
    select *, 'early', early_probability, (true_delay < early_seconds - 0.5)::int, early_variance, common_error from trips union all
    select *, 'late', late_probability, (true_delay > late_seconds + 0.5)::int, late_variance, common_error from trips union all
    select *, 'delay', delay_seconds, true_delay, delay_variance,
        case when is_observed then 0 else unobserved_delay_bias_seconds end
    from trips
)
select name, line_code, direction, avg(estimate)::double as estimate, avg(truth) as truth, avg(truth) filter (is_observed) as observed,
    half_width(sum(variance)::double, sum(common)::double, count(*), max(date_correlation)) as half,
    count(distinct departure_key) as n_trips, max(widest_interval) as widest_interval
from values group by grouping sets ((name), (name, line_code, direction));

select
    'estimated on-time share of the network: absolute error; 95 % interval', '<= 1.0 points at 60, <= 0.5 at 300',
    printf('%.2f points (%.2f %%, truth %.2f %%); %.2f points wide, %s', 100 * abs(estimate - truth), 100 * estimate, 100 * truth,
        200 * half, case when abs(estimate - truth) <= half then 'holds the truth' else 'does not hold the truth' end),
    printf('%.2f points by the passages observed', 100 * abs(observed - truth))
from class_estimates where line_code is null and name = 'on_time';

select
    'the same, early; late; mean delay', '',
    string_agg(
        case when name = 'delay'
            then printf('%.1f s, %.1f s wide', abs(estimate - truth), 2 * half)
            else printf('%.2f points, %.2f wide', 100 * abs(estimate - truth), 200 * half)
        end || case when abs(estimate - truth) <= half then ', holds' else ', does not hold' end, '; ' order by name = 'delay', name), ''
from class_estimates where line_code is null and name != 'on_time';

create table estimated_lines as
select *, 2 * max(case when name = 'on_time' then half end) over (partition by line_code, direction) <= widest_interval as is_given
from class_estimates where line_code is not null and n_trips >= 5;

select
    'line-directions with five trips or more: with an estimate', '>= 95 %',
    printf('%.1f %% of %d', 100 * avg(is_given::int), count(*)), ''
from estimated_lines where name = 'on_time';

select
    'their 95 % interval: holds the truth; median width', '92 to 99 %; <= 25 points at 60, <= 10 at 300',
    printf('%.1f %%; %.1f points; median error %.1f points', 100 * avg((abs(estimate - truth) <= half)::int),
        100 * median(2 * half), 100 * median(abs(estimate - truth))),
    printf('median error %.1f points by the passages observed', 100 * median(abs(observed - truth)))
from estimated_lines where is_given and name = 'on_time';

select
    'the same, early; late; mean delay', '',
    string_agg(printf('%.1f %%; %.1f %s', held, width, case when name = 'delay' then 's' else 'points' end), '; '
        order by name = 'delay', name), ''
from (
    select name, 100 * avg((abs(estimate - truth) <= half)::int) as held,
        median(2 * half) * case when name = 'delay' then 1 else 100 end as width
    from estimated_lines where is_given and name != 'on_time' group by name
);

create table estimated_stops as
select stop_code, avg(on_time_probability) as share, avg(is_on_time) as truth,
    avg(case when is_observed then is_on_time end) as observed,
    half_width(  -- as punctuality_by_stop has it
        sum(on_time_probability * (1 - on_time_probability) + on_time_stop_variance)::double, sum(common_error)::double,
        count(*), max(date_correlation)
    ) as half,
    2 * half <= max(rules.widest_interval) as is_given
from ran inner join built.core.rulesets as rules using (ruleset_version)
group by stop_code having count(*) >= 5;

select
    'stops with five passages or more: with an estimate; their 95 % interval holds the truth; median width', '92 to 99 %',
    printf('%.1f %% of %d; %.1f %%; %.1f points; median error %.1f points', 100 * avg(is_given::int), count(*),
        100 * avg(case when is_given then (abs(share - truth) <= half)::int end),
        100 * median(case when is_given then 2 * half end), 100 * median(case when is_given then abs(share - truth) end)),
    printf('median error %.1f points by the passages observed', 100 * median(abs(observed - truth)))
from estimated_stops;

select
    'not_run by identity: precision', '>= 99 %',
    coalesce(printf('%.1f %% of %d', 100.0 * avg((truth.outcome = 'not_run')::int), count(*)), 'none'), ''
from built.core.scheduled_departures as departures inner join departure_truth as truth using (departure_key)
where departures.outcome = 'not_run' and truth.outcome <> 'not_recorded';

select
    'the audit sample: error of the estimates of unobserved passages, as it measures it', '',
    coalesce(string_agg(printf('%s: %+.1f points, standard error %.1f, of %d passages; truth %+.1f', audit.service_date::varchar,
        100 * measured_bias, 100 * measured_error, n_audited, 100 * (truth.off + audit.correction)), '; ' order by audit.service_date), 'none'),
    ''
from built.intermediate.audit_errors as audit
inner join (
    select service_date, avg(is_on_time) - avg(on_time_probability) as off from ran where not is_observed group by service_date
) as truth using (service_date)
where n_audited > 1 and audit.ruleset = 'default' and audit.part = 'all'
