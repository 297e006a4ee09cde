-- One row per operator, service_date, line, direction, pair of positions and service_hour: how long buses took between
-- two stops. Pairs are neighbouring stops, and the origin with every later stop, in the hour of the first stop.
-- Trips observed passing both stops are no random part: the longer the way, the fewer are. So their travel times come
-- with bounds, and beside them stands an estimate of all trips due that were observed anywhere, with an interval.
{%- set pair = "operator, service_date, line_code, direction, from_position, to_position, service_hour" %}
{%- set trip = "operator, service_date, line_code, direction, trip_id" %}
{%- set of_observed = {
    "n_trips": "count(*)",
    "seconds_sum": "sum(seconds)",
    "seconds_squared_sum": "sum(seconds * seconds)",
    "low_seconds_sum": "sum(low_seconds)",
    "high_seconds_sum": "sum(high_seconds)",
    "n_trips_with_schedule": "count(scheduled_seconds)",
    "seconds_of_scheduled_sum": "sum(case when scheduled_seconds is not null then seconds end)",
    "scheduled_seconds_sum": "sum(scheduled_seconds)"
} %}
{%- set of_due = {
    "n_due": "count(*)",
    "n_due_of_observed_trips": "count(case when is_of_observed_trip then 1 end)",
    "expected_seconds_sum": "sum(case when is_of_observed_trip then seconds end)",
    "due_seconds_sum": "sum(case when is_of_observed_trip then scheduled_seconds end)",
    "error_seconds_sum": "sum(case when is_of_observed_trip then round(error_seconds) end)",
    "error_squares_sum": "sum(case when is_of_observed_trip then round(error_seconds * error_seconds) end)"
} %}
with visits as (
    select
        *,
        row_number() over (partition by {{ trip }} order by passed_at, position, visit_number) as visit_order
    from {{ built('stop_visits') }}
    where arrival_quality in ('evidenced', 'bounded') and line_code is not null and position is not null
),

trips as (
    -- the trip's last visit to its origin before each of its visits
    select
        *,
        max(case when position = 1 then visit_order end) over (
            partition by {{ trip }} order by visit_order rows between unbounded preceding and 1 preceding
        ) as origin_order
    from visits
),

pairs as (
    select
        operator,
        service_date,
        line_code,
        direction,
        earlier.position as from_position,
        later.position as to_position,
        earlier.service_hour,
        earlier.stop_code as from_stop_code,
        later.stop_code as to_stop_code,
        round(seconds_between(earlier.passed_at, later.passed_at)) as seconds,
        floor(greatest(seconds_between(earlier.passed_before, later.passed_after), 0)) as low_seconds,
        ceil(seconds_between(earlier.passed_after, later.passed_before)) as high_seconds,
        -- scheduled times that go back along the trip tell no travel time
        case
            when later.scheduled_at >= earlier.scheduled_at
                then round(seconds_between(earlier.scheduled_at, later.scheduled_at))
        end as scheduled_seconds,
        later.ruleset_version
    from trips as later
    inner join trips as earlier using ({{ trip }})
    where
        later.position > earlier.position
        and (
            earlier.visit_order = later.origin_order
            or (earlier.visit_order = later.visit_order - 1 and earlier.position = later.position - 1)
        )
),

passages as (
    select
        *,
        count(case when arrival_quality = 'evidenced' then 1 end) over (
            partition by departure_key order by position rows between unbounded preceding and current row
        ) as n_evidenced_before
    from {{ built('trip_trajectories') }}
),

due_pairs as (
    select
        *,
        position - 1 as from_position
    from passages
    where position > 1
    union all
    select
        *,
        1 as from_position
    from passages
    where position > 2
),

estimated_pairs as (
    -- between two passages that are known well the whole trip is off by one error
    select
        later.operator,
        later.service_date,
        later.line_code,
        later.direction,
        later.from_position,
        later.position as to_position,
        earlier.service_hour,
        earlier.stop_code as from_stop_code,
        later.stop_code as to_stop_code,
        later.arrival_quality != 'expected' and later.scheduled_at >= earlier.scheduled_at as is_of_observed_trip,
        greatest(round(seconds_between(earlier.passed_at, later.passed_at)), 0) as seconds,
        round(seconds_between(earlier.scheduled_at, later.scheduled_at)) as scheduled_seconds,
        case
            when later.n_evidenced_before = earlier.n_evidenced_before
                then greatest(earlier.delay_error_seconds, later.delay_error_seconds)
            else sqrt(power(earlier.delay_error_seconds, 2) + power(later.delay_error_seconds, 2))
        end as error_seconds,
        later.ruleset_version
    from due_pairs as later
    inner join passages as earlier
        on later.departure_key = earlier.departure_key and later.from_position = earlier.position
),

observed as (
    select
        {{ pair }},
        min(from_stop_code) as from_stop_code,
        min(to_stop_code) as to_stop_code,
        {%- for sum, value in of_observed.items() %}
            {{ value }} as {{ sum }},
        {%- endfor %}
        max(ruleset_version) as ruleset_version
    from pairs
    group by {{ pair }}
),

estimated as (
    select
        {{ pair }},
        min(from_stop_code) as from_stop_code,
        min(to_stop_code) as to_stop_code,
        {%- for sum, value in of_due.items() %}
            {{ value }} as {{ sum }},
        {%- endfor %}
        max(ruleset_version) as ruleset_version
    from estimated_pairs
    group by {{ pair }}
),

times as (
    select
        {{ pair }},
        coalesce(estimated.from_stop_code, observed.from_stop_code) as from_stop_code,
        coalesce(estimated.to_stop_code, observed.to_stop_code) as to_stop_code,
        from_position = 1 as is_from_origin,
        to_position = from_position + 1 as is_adjacent,
        {%- for sum in of_observed | list + of_due | list %}
            cast(coalesce({{ sum }}, 0) as bigint) as {{ sum }},
        {%- endfor %}
        coalesce(estimated.ruleset_version, observed.ruleset_version) as ruleset_version
    from observed
    full outer join estimated using ({{ pair }})
),

{{ with_mean_travel_times("times") }}
