-- One row per due call: when its bus passed, observed or not, with hard bounds, and how late it was, with
-- probabilities. A call is due for each departure in force that is not known not to have run, at each stop of its leg.
{%- set classes = ["early", "on_time", "late"] %}
with calls as (
    select
        *,
        coalesce(arrival_quality in ('evidenced', 'bounded'), false) as is_seen,
        -- on time or not, that is known only of a bus that certainly ran as the departure, and if the schedule is known
        coalesce(arrival_quality in ('evidenced', 'bounded'), false) and is_timed and not is_guessed as is_observed,
        -- a bus passes its stops in order
        max(case when arrival_quality is not null then passed_after end) over earlier_stops as trip_after,
        min(case when arrival_quality is not null then passed_before end) over later_stops as trip_before,
        count(case when arrival_quality = 'evidenced' then 1 end) over earlier_stops as n_evidenced_before
    from {{ built('due_calls') }}
    window
        earlier_stops as (
            partition by departure_key order by position rows between unbounded preceding and current row
        ),
        later_stops as (
            partition by departure_key order by position rows between current row and unbounded following
        )
),

bounded as (
    select
        calls.*,
        case
            when not is_guessed
                then coalesce(case when is_seen then passed_after end, case when is_in_order then trip_after end)
        end as hard_after,
        case
            when not is_guessed
                then coalesce(case when is_seen then passed_before end, case when is_in_order then trip_before end)
        end as hard_before
    from (
        select
            *,
            coalesce(trip_after < trip_before, true) as is_in_order
        from calls
    ) as calls
),

guessed as (
    select
        bounded.*,
        expected.side,
        expected.gap_class,
        coalesce(case when bounded.is_observed then bounded.delay_seconds end, expected.expected_seconds)
            as guessed_seconds,
        coalesce(
            case when bounded.is_seen then bounded.passed_at end,
            {{ add_seconds('bounded.scheduled_at', 'expected.expected_seconds') }}
        ) as guessed_at,
        case
            when bounded.is_observed
                then
                    least(
                        greatest({{ seconds_between('bounded.passed_after', 'bounded.passed_before') }} / 6, 1),
                        case when bounded.arrival_quality = 'bounded' then expected.error_seconds end
                    )
            else sqrt(power(expected.error_seconds, 2) + power(bounded.match_error_seconds, 2))
        end as error_seconds,
        case when bounded.is_timed then {{ seconds_between('bounded.scheduled_at', 'bounded.hard_after') }} end
            as low_seconds,
        case when bounded.is_timed then {{ seconds_between('bounded.scheduled_at', 'bounded.hard_before') }} end
            as high_seconds
    from bounded
    inner join {{ ref('expected_delays') }} as expected using (operator, service_date, departure_key, position)
    where expected.holdout = 0
),

standardised as (
    select
        guessed.*,
        rules.early_seconds,
        rules.late_seconds,
        least(greatest(guessed_seconds, low_seconds), high_seconds) as expected_seconds,
        {%- for name, value in {
            "low": "low_seconds", "high": "high_seconds",
            "early": "(early_seconds - 0.5)", "late": "(late_seconds + 0.5)"
        }.items() %}
        ({{ value }} - guessed_seconds) / error_seconds as {{ name }}_value
        {{- "," if not loop.last }}
    {%- endfor %}
    from guessed
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
),

shared as (
    -- every class has shares; a left join is done last, so that no other has to hold these lists for all rows
    select
        standardised.*,
    {%- for name in ["low", "high", "early", "late"] %}
        case
            when is_observed then {{ normal_share(name ~ "_value") }}
            when {{ name }}_value is not null then {{ share_up_to("shares.shares", name ~ "_value") }}
            else {{ 1 if name == "high" else 0 }}
        end as share_{{ name }}
        {{- "," if not loop.last }}
    {%- endfor %}
    from standardised
    left join {{ built('error_shares') }} as shares using (operator, service_date, side, gap_class)
),

judged as (
    -- within the bounds; where hardly anything of the distribution lies there, the nearest bound decides
    select
        *,
        case
            when share_high - share_low < 0.001 then case when expected_seconds < early_seconds - 0.5 then 1 else 0 end
            else least(greatest((share_early - share_low) / (share_high - share_low), 0), 1)
        end as up_to_early,
        case
            when share_high - share_low < 0.001 then case when expected_seconds < late_seconds + 0.5 then 1 else 0 end
            else least(greatest((share_late - share_low) / (share_high - share_low), 0), 1)
        end as up_to_late
    from shared
),

weighted as (
    -- what is uncertain takes part in the correction, what is certain does not
    select
        *,
        greatest(up_to_late - up_to_early, 0) as on_time_share,
        case
            when not is_observed
                then greatest(up_to_late - up_to_early, 0) * (1 - greatest(up_to_late - up_to_early, 0))
        end as weight
    from judged
),

observed_hours as (
    select
        operator,
        service_date,
        cast(floor(scheduled_seconds / 3600) as bigint) as service_hour,
        count(distinct departure_key) as n_trips
    from calls
    where arrival_quality = 'evidenced'
    group by operator, service_date, floor(scheduled_seconds / 3600)
),

corrected as (
    -- towards on time or away from it, with early and late in their proportion
    select
        weighted.*,
        least(greatest(
            on_time_share
            + coalesce(
                corrections.correction * weight
                / nullif(
                    avg(cast(weight as decimal(7, 6))) over (partition by weighted.operator, weighted.service_date), 0
                ),
                0
            ),
            0
        ), 1) as corrected_share,
        case
            when is_observed then 0
            -- where nothing is known of the trip, only as sure as the trips observed in the hour allow
            when side like 'none%'
                then sqrt(power(corrections.remaining_error, 2) + 0.25 / (coalesce(observed_hours.n_trips, 0) + 1))
            else corrections.remaining_error
        end as common_error
    from weighted
    inner join {{ built('audit_corrections') }} as corrections using (operator, service_date)
    left join observed_hours
        on
            weighted.operator = observed_hours.operator
            and weighted.service_date = observed_hours.service_date
            and floor(weighted.scheduled_seconds / 3600) = observed_hours.service_hour
),

probable as (
    select
        *,
        cast(corrected_share as decimal(7, 6)) as on_time_probability,
        least(
            cast(
                case when on_time_share < 1 then (1 - corrected_share) * up_to_early / (1 - on_time_share) else 0 end
                as decimal(7, 6)
            ),
            1 - cast(corrected_share as decimal(7, 6))
        ) as early_probability
    from corrected
),

uncertain as (
    select
        *,
        1 - early_probability - on_time_probability as late_probability
    from probable
),

spread as (
    -- between two evidenced passages a bus is early or late as a whole: their uncertainties add up. Errors of seconds
    -- are alike along the whole trip, even of evidenced passages: they come of the same predictions of the same vehicle
    select
        *,
        cast(
            cast(error_seconds as decimal(9, 1)) * sum(cast(error_seconds as decimal(9, 1))) over trip as decimal(18, 6)
        ) as delay_variance,
    {%- for name in classes %}
        {%- set error = "cast(sqrt(" ~ name ~ "_probability * (1 - " ~ name ~ "_probability)) as decimal(7, 6))" %}
        cast({{ error }} * sum({{ error }}) over part as decimal(18, 6)) as {{ name }}_variance
        {{- "," if not loop.last }}
    {%- endfor %}
    from uncertain
    window
        part as (
            partition by departure_key, case when arrival_quality = 'evidenced' then position end, n_evidenced_before
        ),
        trip as (partition by departure_key)
)

select
    departure_key,
    operator,
    service_date,
    line_code,
    direction,
    leg,
    departure_at,
    position,
    stops.stop_sequence,
    spread.stop_code,
    cast(floor(scheduled_seconds / 3600) as bigint) as service_hour,
    trip_key,
    visit_key,
    match_score,
    scheduled_at,
    schedule_source,
    least(greatest(guessed_at, hard_after), hard_before) as passed_at,
    hard_after as passed_after,
    hard_before as passed_before,
    case
        when is_seen and not is_guessed then arrival_quality
        when side = 'between' then 'interpolated'
        when side like 'none%' then 'expected'
        else 'extrapolated'
    end as arrival_quality,
    cast(round(expected_seconds) as bigint) as delay_seconds,
    round(error_seconds, 1) as delay_error_seconds,
    early_probability,
    on_time_probability,
    late_probability,
    {%- for name in ["delay"] + classes %}
        {{ name }}_variance,
    {%- endfor %}
    cast(common_error as decimal(7, 6)) as common_error,
    ruleset_version
from spread
left join {{ built('leg_stops') }} as stops using (operator, service_date, line_code, direction, leg, position)
