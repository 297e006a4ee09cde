-- One row per operator, service_date, line and direction: the destination that most of its visits were listed with, and
-- which terminus of the line that is. The lists of lines do not say which terminus a direction goes to.
with counted as (
    select
        operator,
        service_date,
        line_code,
        direction,
        destination,
        count(*) as n_visits
    from {{ built('stop_visits') }}
    where line_code is not null and destination is not null
    group by operator, service_date, line_code, direction, destination
),

destinations as (
    select
        *,
        plain_text(destination) as plain_destination
    from {{ first_rows(
        'counted', ['operator', 'service_date', 'line_code', 'direction'], 'n_visits desc, destination'
    ) }} as most_common
),

compared as (
    select
        destinations.*,
        lines.terminus_outbound,
        lines.terminus_inbound,
        likeness(destinations.plain_destination, plain_text(lines.terminus_outbound)) as outbound_likeness,
        likeness(destinations.plain_destination, plain_text(lines.terminus_inbound)) as inbound_likeness
    from destinations
    inner join {{ ref('latest_lines') }} as lines using (operator, line_code)
)

select
    operator,
    service_date,
    line_code,
    direction,
    destination,
    case
        when outbound_likeness > inbound_likeness then terminus_outbound
        when inbound_likeness > outbound_likeness then terminus_inbound
    end as terminus
from compared
