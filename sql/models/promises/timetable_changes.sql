-- One row per operator, service_date, line, direction, what it is compared with, and changed departure: added, removed,
-- moved (removed and added within the tolerance) or edited (another sign or service, which is no other departure).
-- An answer about the timetable is compared with the last one about the same date, and the first one about a date also
-- with what was then known of the last comparable date before (timetable_proofs), which shows a new season at once.
-- What only an answer lacks that proves nothing absent is not removed, and the first answer about a date adds nothing.
{%- set keys = ["operator", "service_date", "line_code", "direction", "compared_with", "changed_at"] %}
{%- set listed = ["departure_key", "departure_at", "repeat_number", "service_seconds", "headsign"] %}
with departures as (
    select
        *,
        -- a validity that begins when another of the same departure ends is an edit
        coalesce(valid_from = lag(valid_to) over departure, false) as is_edited,
        coalesce(valid_to = lead(valid_from) over departure, false) as is_edited_later,
        lag(last_listed_at) over departure as unedited_at,
        lag(leg) over departure as leg_before
    from {{ built('timetable_departures') }}
    window departure as (
        partition by operator, service_date, line_code, direction, departure_at, repeat_number order by valid_from
    )
),

first_proofs as (
    select
        operator,
        service_date,
        line_code,
        received_at,
        comparable_date
    from {{ first_rows(
        '(select * from ' ~ built('timetable_proofs') ~ ' as proofs where proves_absence)',
        ['operator', 'service_date', 'line_code'], 'received_at, request_id'
    ) }} as proofs
    where comparable_date is not null
),

promised as (
    -- what the first answer that proves anything about a date promises
    select
        departures.*,
        first_proofs.received_at,
        first_proofs.comparable_date
    from first_proofs
    inner join {{ built('timetable_departures') }} as departures using (operator, service_date, line_code)
    where
        departures.valid_from <= first_proofs.received_at
        and coalesce(departures.valid_to > first_proofs.received_at, true)
),

promised_before as (
    -- what was then promised of the comparable date
    select
        departures.*,
        first_proofs.service_date as compared_date,
        first_proofs.received_at,
        -- when it would leave on the date, where another departure tells when that begins
        coalesce(
            add_seconds(dates.zero_at, departures.service_seconds),
            add_seconds(
                departures.departure_at, 86400 * days_between(departures.service_date, first_proofs.service_date)
            )
        ) as due_at
    from first_proofs
    inner join (
        select *
        from {{ ref('timetable_departures') }}
        where {{ is_received_around('service_date', days_before=28, days_after=0) }}
    ) as departures
        on
            first_proofs.operator = departures.operator
            and first_proofs.line_code = departures.line_code
            and first_proofs.comparable_date = departures.service_date
    left join (
        select
            operator,
            service_date,
            min(add_seconds(departure_at, -service_seconds)) as zero_at
        from {{ built('timetable_departures') }}
        group by operator, service_date
    ) as dates
        on first_proofs.operator = dates.operator and first_proofs.service_date = dates.service_date
    where
        departures.valid_from <= first_proofs.received_at
        and coalesce(departures.valid_to > first_proofs.received_at, true)
),

changes as (
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        case when is_edited then leg_before end as leg_before,
        'same_date' as compared_with,
        service_date as compared_date,
        case when is_edited then 'edited' else 'added' end as change,
        case when is_edited then unedited_at else previous_proof_at end as unchanged_at,
        valid_from as changed_at,
        {{ listed | join(", ") }}
    from departures
    where is_edited or previous_proof_at is not null
    union all
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        cast(null as string) as leg_before,
        'same_date' as compared_with,
        service_date as compared_date,
        'removed' as change,
        last_listed_at as unchanged_at,
        valid_to as changed_at,
        {{ listed | join(", ") }}
    from departures
    where valid_to is not null and not is_edited_later
    union all
    select
        promised.operator,
        promised.service_date,
        promised.line_code,
        promised.direction,
        promised.leg,
        promised_before.leg as leg_before,
        'comparable_date' as compared_with,
        promised.comparable_date as compared_date,
        case when promised_before.departure_key is null then 'added' else 'edited' end as change,
        cast(null as timestamp) as unchanged_at,
        promised.received_at as changed_at,
        promised.{{ listed | join(", promised.") }}
    from promised
    left join promised_before
        on
            promised.operator = promised_before.operator
            and promised.line_code = promised_before.line_code
            and promised.service_date = promised_before.compared_date
            and promised.direction = promised_before.direction
            and promised.service_seconds = promised_before.service_seconds
            and promised.repeat_number = promised_before.repeat_number
    where promised_before.departure_key is null or promised.headsign is distinct from promised_before.headsign
    union all
    select
        promised_before.operator,
        promised_before.compared_date as service_date,
        promised_before.line_code,
        promised_before.direction,
        promised_before.leg,
        cast(null as string) as leg_before,
        'comparable_date' as compared_with,
        promised_before.service_date as compared_date,
        'removed' as change,
        cast(null as timestamp) as unchanged_at,
        promised_before.received_at as changed_at,
        promised_before.departure_key,
        promised_before.due_at as departure_at,
        promised_before.repeat_number,
        promised_before.service_seconds,
        promised_before.headsign
    from promised_before
    left join promised
        on
            promised_before.operator = promised.operator
            and promised_before.line_code = promised.line_code
            and promised_before.compared_date = promised.service_date
            and promised_before.direction = promised.direction
            and promised_before.service_seconds = promised.service_seconds
            and promised_before.repeat_number = promised.repeat_number
    -- an answer need not list what was past when it came
    where promised.departure_key is null and promised_before.due_at > promised_before.received_at
),

edited as (
    select *
    from changes
    where change = 'edited' and leg_before != leg
),

lasting_legs as (
    select distinct
        edited.{{ keys | join(", edited.") }},
        departures.leg
    from edited
    inner join departures using (operator, service_date, line_code, direction)
    where
        departures.valid_from <= edited.changed_at
        and coalesce(departures.valid_to > edited.changed_at, true)
),

removed as (
    -- with the name that their leg has now: it may be renamed while some of its departures move
    select
        changes.{{ keys | join(", changes.") }},
        coalesce(renamed.leg_after, changes.leg) as leg,
        changes.departure_key,
        changes.departure_at
    from changes
    left join {{ renamed_legs("edited", "lasting_legs", keys) }} as renamed
        on
            changes.operator = renamed.operator
            and changes.service_date = renamed.service_date
            and changes.line_code = renamed.line_code
            and changes.direction = renamed.direction
            and changes.compared_with = renamed.compared_with
            and changes.changed_at = renamed.changed_at
            and changes.leg = renamed.leg_before
    where changes.change = 'removed'
),

{{ moved_departures("removed", "(select * from changes where change = 'added')", keys + ["leg"]) }},

ambiguous as (
    -- the departures that may have moved from or to several places
    select distinct
        service_date,
        compared_with,
        changed_at,
        departure_key
    from (
        select
            *,
            removed_id as departure_key
        from pairs
        union all
        select
            *,
            added_id as departure_key
        from pairs
    ) as ends
    where not is_only_pair
),

paired as (
    -- what moved stays one row, that of the departure that was removed
    select
        changes.* {{ exclude("change") }},
        case when moves.added_id is null then changes.change else 'moved' end as change,
        moves.added_id as moved_to_key,
        moves.added_at as moved_to_at,
        moves.moved_seconds,
        ambiguous.departure_key is null as is_unambiguous
    from changes
    left join moves
        on
            changes.change = 'removed'
            and changes.departure_key = moves.removed_id
            and changes.service_date = moves.service_date
            and changes.compared_with = moves.compared_with
            and changes.changed_at = moves.changed_at
    left join ambiguous
        on
            changes.departure_key = ambiguous.departure_key
            and changes.service_date = ambiguous.service_date
            and changes.compared_with = ambiguous.compared_with
            and changes.changed_at = ambiguous.changed_at
    left join moves as others
        on
            changes.change = 'added'
            and changes.departure_key = others.added_id
            and changes.service_date = others.service_date
            and changes.compared_with = others.compared_with
            and changes.changed_at = others.changed_at
    where others.added_id is null
),

noticed as (
    select
        *,
        seconds_between(changed_at, departure_at) as notice_low_seconds,
        seconds_between(unchanged_at, departure_at) as notice_high_seconds
    from paired
)

select
    operator,
    service_date,
    line_code,
    direction,
    compared_with,
    compared_date,
    change,
    departure_key,
    departure_at,
    repeat_number,
    leg,
    headsign,
    moved_to_key,
    moved_to_at,
    moved_seconds,
    is_unambiguous,
    unchanged_at,
    changed_at,
    cast(floor(notice_low_seconds) as bigint) as notice_low_seconds,
    cast(ceil(notice_high_seconds) as bigint) as notice_high_seconds,
    {{ notice_class('noticed.notice_low_seconds', 'noticed.notice_high_seconds') }} as notice_class
from noticed
