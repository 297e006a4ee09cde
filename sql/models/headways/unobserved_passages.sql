{{ config(materialized='ephemeral') }}
-- One row per bus that may have passed a stop without being observed as a bus of a certain line and direction: the
-- earliest and the latest time it may have passed.
-- Buses whose passage was not observed, and those the stop never listed, are assumed to be as early or late as a bus
-- that counts as on time. An observed bus of unknown line may be of any line (line_code is null); one at a stop outside
-- its direction's stop list may be of either direction (direction is null).
with buses as (
    select
        operator,
        service_date,
        stop_code,
        line_code,
        case when position is not null then direction end as direction,
        coalesce(passed_at, scheduled_at) as expected_at,
        arrival_quality in ('evidenced', 'bounded') as is_observed
    from {{ built('stop_visits') }}
    where (line_code is null or position is null or arrival_quality not in ('evidenced', 'bounded'))
    union all
    select
        operator,
        service_date,
        stop_code,
        line_code,
        direction,
        scheduled_at as expected_at,
        false as is_observed
    from {{ built('unlisted_departures') }}
    where outcome != 'not_run'
)

select
    buses.operator,
    buses.stop_code,
    buses.line_code,
    buses.direction,
    case
        when buses.is_observed then buses.expected_at
        else {{ add_seconds('buses.expected_at', 'rules.early_seconds') }}
    end as earliest_at,
    case
        when buses.is_observed then buses.expected_at
        else {{ add_seconds('buses.expected_at', 'rules.late_seconds') }}
    end as latest_at
from buses
{{ join_rules('buses.service_date') }}
