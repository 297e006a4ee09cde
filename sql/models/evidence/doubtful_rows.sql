{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt and identifier whose live rows are not what they say, and why.
-- `shared_id`: the identifier is on several vehicles, so that it identifies none. A vehicle goes one way for a whole
-- trip: of two stops that it is about to pass within two minutes, most show the same line and destination.
-- `single_id`: nearly all identifiers of the hour, or of the label, are in one answer each, although most buses should
-- have been listed again, so that an identifier is the answer's and not a vehicle's.
-- `stuck`: stops listed many buses of the hour, label or day as due for over a minute, or as still to come after they
-- were due at later stops: that a bus is listed as due does not prove then that it is still to come.
-- `repeated`: live rows of the hour or label only repeat a timetable, so that they are no observations. A prediction
-- changes on the way, by seconds at least; here nearly all buses were listed for minutes with the same instant, until
-- it was past.
with due_rows as (
    -- live rows of buses that are about to pass
    select
        passages.operator,
        passages.received_date,
        passages.trip_id,
        passages.stop_code,
        passages.line_label || '|' || coalesce(passages.destination, '') as way,
        max(passages.predicted_at) as predicted_at
    from {{ ref('staging_passages') }} as passages
    cross join {{ ref('inference_parameters') }} as parameters
    where
        passages.is_theoretical is not true
        and passages.trip_id is not null
        and seconds_between(passages.observed_at, passages.predicted_at)
        between -parameters.past_tolerance_seconds and parameters.shared_id_seconds
        and {{ is_received_around('passages.received_date') }}
    group by
        passages.operator, passages.received_date, passages.trip_id, passages.stop_code, way,
        cast(floor(microseconds(passages.predicted_at) / (1e6 * parameters.live_gap_seconds)) as bigint)
),

steps as (
    select
        *,
        seconds_between(lag(predicted_at) over one_id, predicted_at) as step_seconds,
        way = lag(way) over one_id as is_same_way
    from due_rows
    window one_id as (partition by operator, received_date, trip_id order by predicted_at, stop_code, way)
),

shared_ids as (
    select
        steps.operator,
        steps.received_date,
        steps.trip_id
    from steps
    cross join {{ ref('inference_parameters') }} as parameters
    where steps.step_seconds <= parameters.shared_id_seconds
    group by steps.operator, steps.received_date, steps.trip_id
    having
        count(*) >= max(parameters.fewest_visits)
        and count(case when not steps.is_same_way then 1 end) >= max(parameters.shared_id_share) * count(*)
),

answers as (
    select
        operator,
        request_id,
        lead(received_at) over (partition by operator, key order by received_at, request_id) as next_received_at
    from {{ ref('staging_requests') }}
    where endpoint = 'passages' and is_good and {{ is_received_around() }}
),

live_rows as (
    select
        passages.*,
        answers.next_received_at,
        replace(passages.line_label, '/', '') as plain_label,
        parameters.past_tolerance_seconds,
        parameters.stuck_seconds,
        cast(floor(microseconds(passages.predicted_at) / (1e6 * parameters.live_gap_seconds)) as bigint)
            as predicted_part,
        passages.predicted_at
        <= add_seconds(passages.observed_at, parameters.past_tolerance_seconds) as is_due
    from {{ ref('staging_passages') }} as passages
    cross join {{ ref('inference_parameters') }} as parameters
    left join answers using (operator, request_id)
    where
        passages.is_theoretical is not true
        and passages.trip_id is not null
        and passages.line_label is not null
        and not coalesce(passages.is_wrapped, false)
        and {{ is_received_around('passages.received_date') }}
),

ids as (
    -- identifiers of buses that the stop should have listed in its next answer, too
    select
        live_rows.operator,
        live_rows.received_date,
        live_rows.trip_id,
        min(live_rows.plain_label) as plain_label,
        count(distinct live_rows.request_id) as n_answers,
        cast(floor(microseconds(min(live_rows.observed_at)) / 3.6e9) as bigint) as first_hour,
        max(
            case
                when
                    live_rows.predicted_at
                    > add_seconds(live_rows.next_received_at, parameters.vanish_seconds)
                    then 1
                else 0
            end
        ) as is_expected_again
    from live_rows
    cross join {{ ref('inference_parameters') }} as parameters
    group by live_rows.operator, live_rows.received_date, live_rows.trip_id
),

single_ids as (
    select
        operator,
        received_date,
        trip_id
    from (
        select
            *,
            sum(is_expected_again) over of_label as n_of_label,
            sum(case when n_answers = 1 then is_expected_again else 0 end) over of_label as n_single_of_label,
            sum(is_expected_again) over of_hour as n_of_hour,
            sum(case when n_answers = 1 then is_expected_again else 0 end) over of_hour as n_single_of_hour
        from ids
        window
            of_label as (partition by operator, received_date, plain_label),
            of_hour as (partition by operator, received_date, first_hour)
    ) as counted
    cross join {{ ref('inference_parameters') }} as parameters
    where
        n_answers = 1
        and (
            n_of_label >= parameters.fewest_visits
            and n_single_of_label >= parameters.nearly_all_share * n_of_label
            or n_of_hour >= parameters.fewest_visits
            and n_single_of_hour >= parameters.nearly_all_share * n_of_hour
        )
),

due_visits as (
    -- from when to when a stop listed a bus as due, when it last listed it as still to come, how soon, and when it was
    -- asked again
    select
        operator,
        received_date,
        trip_id,
        min(plain_label) as plain_label,
        min(case when is_due then observed_at end) as due_at,
        max(case when is_due then observed_at end) as last_due_at,
        max(case when not is_due then observed_at end) as last_ahead_at,
        max(
            case
                when not is_due and observed_at > first_due_at then seconds_between(observed_at, predicted_at)
            end
        ) as again_seconds,
        min(seconds_between(observed_at, predicted_at)) as least_seconds,
        seconds_between(max(observed_at), max(next_received_at)) as gap_seconds,
        count(*) as n_answers,
        2 * max(past_tolerance_seconds) as tolerance_seconds
    from (
        select
            *,
            min(case when is_due then observed_at end) over (
                partition by operator, received_date, trip_id, stop_code, destination, predicted_part
            ) as first_due_at
        from live_rows
    ) as live_rows
    group by operator, received_date, trip_id, stop_code, destination, predicted_part
),

leads as (
    select
        due_visits.operator,
        due_visits.received_date,
        due_visits.plain_label,
        percentile(due_visits.least_seconds, 0.1) as lead_seconds
    from due_visits
    cross join {{ ref('inference_parameters') }} as parameters
    -- an identifier that is in one answer alone may be the answer's
    where due_visits.n_answers > 1 and due_visits.gap_seconds <= parameters.vanish_seconds
    group by due_visits.operator, due_visits.received_date, due_visits.plain_label
    having
        count(*) >= max(parameters.fewest_visits)
        and count(distinct due_visits.trip_id) >= max(parameters.repeated_ids)
        and percentile(due_visits.least_seconds, 0.1) > max(parameters.past_tolerance_seconds)
),

unlisted_ids as (
    select
        visits.operator,
        visits.received_date,
        visits.trip_id,
        max(leads.lead_seconds) as lead_seconds
    from due_visits as visits
    inner join leads using (operator, received_date, plain_label)
    group by visits.operator, visits.received_date, visits.trip_id
),

late_visits as (
    -- null at the first stop, where buses wait for their departure
    select
        operator,
        received_date,
        trip_id,
        plain_label,
        cast(floor(microseconds(due_at) / 3.6e9) as bigint) as due_hour,
        case
            when previous_due_at is null then null
            when last_due_at > add_seconds(due_at, tolerance_seconds) then 1
            else 0
        end as is_late,
        case
            when previous_due_at is null then null
            -- minutes away after it was due, it comes again
            when again_seconds > parameters.upward_jump_seconds then 0
            when last_ahead_at > add_seconds(next_due_at, tolerance_seconds) then 1
            else 0
        end as is_behind
    from (
        select
            *,
            lag(due_at) over (partition by operator, received_date, trip_id order by due_at) as previous_due_at,
            lead(due_at) over (partition by operator, received_date, trip_id order by due_at) as next_due_at
        from due_visits
        where due_at is not null
    ) as visits
    cross join {{ ref('inference_parameters') }} as parameters
),

stuck_ids as (
    -- a bus that is held up is due for a while, too; only where many are so, it is the upstream, and then it may be so
    -- of every bus. The mean over the buses, without the one that was so most often
    select distinct
        visits.operator,
        visits.received_date,
        visits.trip_id
    from (
        {% for group in ["due_hour", "plain_label", "received_date"] -%}
            select
                operator,
                received_date,
                trip_id,
                sum(n_late) over of_group as n_late,
                (sum(late_share) over of_group - max(late_share) over of_group)
                / nullif(count(late_share) over of_group - 1, 0) as late_share,
                sum(n_behind) over of_group as n_behind,
                (sum(behind_share) over of_group - max(behind_share) over of_group)
                / nullif(count(behind_share) over of_group - 1, 0) as behind_share
            from (
                select
                    operator,
                    received_date,
                    trip_id,
                    {{ group }} as of_buses,
                    sum(is_late) as n_late,
                    avg(is_late) as late_share,
                    sum(is_behind) as n_behind,
                    avg(is_behind) as behind_share
                from late_visits
                group by operator, received_date, trip_id, of_buses
            ) as buses
            window of_group as (partition by operator, received_date, of_buses)
            {{ "union all" if not loop.last }}
        {% endfor -%}
    ) as visits
    cross join {{ ref('inference_parameters') }} as parameters
    where
        visits.n_late >= parameters.fewest_visits and visits.late_share >= parameters.stuck_share
        or visits.n_behind >= parameters.fewest_visits and visits.behind_share >= parameters.stuck_behind_share
),

ahead_visits as (
    -- of those listed for minutes of an hour before they were due, whether the prediction stayed the same
    select
        operator,
        received_date,
        trip_id,
        plain_label,
        cast(floor(microseconds(observed_at) / 3.6e9) as bigint) as hour,
        case
            when count(*) < 3 or seconds_between(min(observed_at), max(observed_at)) <= max(stuck_seconds)
                then null
            when min(predicted_at) = max(predicted_at) then 1
            else 0
        end as is_same
    from live_rows
    where not is_due
    group by operator, received_date, trip_id, plain_label, hour, stop_code, destination
),

repeated_ids as (
    select distinct
        visits.operator,
        visits.received_date,
        visits.trip_id
    from (
        {% for group in ["hour", "plain_label"] -%}
            select
                operator,
                received_date,
                trip_id,
                count(is_same) over of_group as n_visits,
                sum(is_same) over of_group as n_same
            from ahead_visits
            window of_group as (partition by operator, received_date, {{ group }})
            {{ "union all" if not loop.last }}
        {% endfor -%}
    ) as visits
    cross join {{ ref('inference_parameters') }} as parameters
    where
        visits.n_visits >= parameters.fewest_visits
        and visits.n_same >= parameters.nearly_all_share * visits.n_visits
)

-- of several reasons the one that leaves least of the rows, which comes first by name
select
    operator,
    received_date,
    trip_id,
    min(reason) as reason,
    max(lead_seconds) as lead_seconds
from (
    {% for reason, ids in [
        ("repeated", "repeated_ids"), ("shared_id", "shared_ids"), ("single_id", "single_ids"), ("stuck", "stuck_ids"),
        ("unlisted", "unlisted_ids")
    ] -%}
        select
            operator,
            received_date,
            trip_id,
            '{{ reason }}' as reason,
            {{ "lead_seconds" if reason == "unlisted" else "cast(null as double)" }} as lead_seconds
        from {{ ids }}
        {{ "union all" if not loop.last }}
    {% endfor -%}
) as reasons
group by operator, received_date, trip_id
