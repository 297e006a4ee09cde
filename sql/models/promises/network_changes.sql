{{ config(materialized='table', meta={'reads_all_dates': 'a line may stay the same for years'}) }}
-- One row per operator, line, direction, stop, occurrence and instant at which the lists of lines and of their stops
-- changed: a line opened, closed or was renamed (no direction and stop); a stop of a line opened, closed, was renamed
-- (another code stands at its place between the same stops) or was reordered among those that stayed.
-- The first answer about a line changes nothing.
{%- set way = "operator, line_code, direction" %}
with answers as (
    select
        operator,
        endpoint,
        key,
        received_at
    from {{ ref('answer_evidence') }}
    where endpoint in ('lines', 'stops') and is_whole_list
),

open_lines as (
    select
        *,
        coalesce(valid_from = lag(valid_to) over line, false) as is_continued,
        coalesce(valid_to = lead(valid_from) over line, false) as is_continued_later,
        lag(line_number) over line as number_before,
        lag(terminus_outbound) over line as outbound_before,
        lag(terminus_inbound) over line as inbound_before
    from {{ ref('lines') }}
    where coalesce(is_active, true)
    window line as (partition by operator, line_code order by valid_from)
),

line_changes as (
    select
        operator,
        line_code,
        case when is_continued then 'line_renamed' else 'line_opened' end as change,
        valid_from as changed_at,
        case
            when is_continued
                then concat_ws(' ', number_before, concat_ws(' - ', outbound_before, inbound_before))
        end as name_before,
        concat_ws(' ', line_number, concat_ws(' - ', terminus_outbound, terminus_inbound)) as name_after
    from open_lines
    where
        not is_continued
        or line_number is distinct from number_before
        or terminus_outbound is distinct from outbound_before
        or terminus_inbound is distinct from inbound_before
    union all
    select
        operator,
        line_code,
        'line_closed' as change,
        valid_to as changed_at,
        concat_ws(' ', line_number, concat_ws(' - ', terminus_outbound, terminus_inbound)) as name_before,
        cast(null as string) as name_after
    from open_lines
    where valid_to is not null and not is_continued_later
),

instants as (
    select distinct
        operator,
        line_code,
        direction,
        changed_at
    from (
        select
            {{ way }},
            valid_from as changed_at
        from {{ ref('line_stops') }}
        union all
        select
            {{ way }},
            valid_to as changed_at
        from {{ ref('line_stops') }}
        where valid_to is not null
    ) as ends
),

lists as (
    -- the stops of the direction just before each instant, and from it on
    {%- for side in ["before", "after"] %}
        select
            instants.operator,
            instants.line_code,
            instants.direction,
            instants.changed_at,
            '{{ side }}' as side,
            stops.position,
            stops.stop_code,
            row_number() over (
                partition by
                    instants.operator, instants.line_code, instants.direction, instants.changed_at, stops.stop_code
                order by stops.position
            ) as occurrence
        from instants
        inner join {{ ref('line_stops') }} as stops using ({{ way }})
        where
        {%- if side == "before" %}
            stops.valid_from < instants.changed_at and coalesce(stops.valid_to >= instants.changed_at, true)
        union all
        {%- else %}
            stops.valid_from <= instants.changed_at and coalesce(stops.valid_to > instants.changed_at, true)
        {%- endif %}
    {%- endfor %}
),

stayed as (
    select
        *,
        count(*) over (partition by {{ way }}, changed_at, stop_code, occurrence) = 2 as has_stayed
    from lists
),

placed as (
    select
        *,
        sum(case when has_stayed then 1 else 0 end) over (
            partition by {{ way }}, changed_at, side order by position rows between unbounded preceding and current row
        ) as n_stayed_before
    from stayed
),

in_place as (
    -- of the stops that did not stay, those between the same stops are numbered
    select
        *,
        row_number() over (partition by {{ way }}, changed_at, side, n_stayed_before order by position) as nth_in_place,
        count(*) over (partition by {{ way }}, changed_at, side, n_stayed_before) as n_in_place
    from placed
    where not has_stayed
),

stop_changes as (
    select
        coalesce(closed.operator, opened.operator) as operator,
        coalesce(closed.line_code, opened.line_code) as line_code,
        coalesce(closed.direction, opened.direction) as direction,
        coalesce(closed.changed_at, opened.changed_at) as changed_at,
        case
            when opened.stop_code is null then 'stop_closed'
            when closed.stop_code is null then 'stop_opened'
            else 'stop_renamed'
        end as change,
        coalesce(closed.stop_code, opened.stop_code) as stop_code,
        coalesce(closed.occurrence, opened.occurrence) as occurrence,
        closed.position as position_before,
        opened.position as position_after,
        closed.stop_code as name_before,
        opened.stop_code as name_after
    from (
        select * from in_place
        where side = 'before'
    ) as closed
    full outer join (
        select * from in_place
        where side = 'after'
    ) as opened
        on
            closed.operator = opened.operator
            and closed.line_code = opened.line_code
            and closed.direction = opened.direction
            and closed.changed_at = opened.changed_at
            and closed.n_stayed_before = opened.n_stayed_before
            and closed.nth_in_place = opened.nth_in_place
            and closed.n_in_place = opened.n_in_place
    union all
    select
        operator,
        line_code,
        direction,
        changed_at,
        'stop_reordered' as change,
        stop_code,
        occurrence,
        before.position as position_before,
        after.position as position_after,
        stop_code as name_before,
        stop_code as name_after
    from (
        select * from placed
        where side = 'before' and has_stayed
    ) as before
    inner join (
        select * from placed
        where side = 'after' and has_stayed
    ) as after
        using ({{ way }}, changed_at, stop_code, occurrence)
    where before.n_stayed_before != after.n_stayed_before
),

changes as (
    select
        operator,
        change,
        line_code,
        cast(null as string) as direction,
        cast(null as string) as stop_code,
        cast(null as bigint) as occurrence,
        cast(null as bigint) as position_before,
        cast(null as bigint) as position_after,
        name_before,
        name_after,
        changed_at,
        'lines' as endpoint,
        '' as key
    from line_changes
    union all
    select
        operator,
        change,
        line_code,
        direction,
        stop_code,
        occurrence,
        position_before,
        position_after,
        name_before,
        name_after,
        changed_at,
        'stops' as endpoint,
        line_code as key
    from stop_changes
)

select
    changes.operator,
    changes.change,
    changes.line_code,
    changes.direction,
    changes.stop_code,
    changes.occurrence,
    changes.position_before,
    changes.position_after,
    changes.name_before,
    changes.name_after,
    max(answers.received_at) as unchanged_at,
    changes.changed_at
from changes
inner join answers
    on
        changes.operator = answers.operator
        and changes.endpoint = answers.endpoint
        and changes.key = answers.key
        and changes.changed_at > answers.received_at
group by
    changes.operator, changes.change, changes.line_code, changes.direction, changes.stop_code, changes.occurrence,
    changes.position_before, changes.position_after, changes.name_before, changes.name_after, changes.changed_at
