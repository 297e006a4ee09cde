{{ config(materialized='table', meta={'reads_all_dates': 'an event may be listed for many days'}) }}
{%- set lines_in_common = "arrays_overlap(earlier.line_keys, later.line_keys)" -%}
{%- set followed_by = "add_seconds(listings.absent_after_at, rules.flap_seconds)" -%}
{%- set root_number = "coalesce(roots.root_number, listings.listing_number)" -%}
{%- set likeness_of_texts = "common_share(earlier.message_words, later.message_words)" -%}
-- One row per listing of the service status (`status_listings`): the listing that its episode begins with, and when it
-- was known not to be listed before and after.
-- Upstream gives events no identifier. Two listings of a category are one episode if the later one begins where the
-- earlier one ended, or at most `flap_seconds` after an answer without both, and
--   - they read the same; or
--   - they have a line in common, and the same start or texts that are alike (`edit_likeness`); or
--   - no answer came between them without both, and they have the same start and texts that are somewhat alike
--     (`same_start_likeness`), or neither names a line or plant, and their texts are alike.
-- Each listing has one successor and one predecessor at most: the most alike, and of these the nearest.
with completed as (
    -- what proves that an event was not listed may have come on another day
    select
        listings.operator,
        listings.received_date,
        listings.listing_key,
        listings.first_seen_at,
        max(
            case
                when answers.received_date < listings.received_date and listings.n_hidden_first >= answers.n_unread
                    then answers.last_answer_at
            end
        ) as proof_before_at,
        min(
            case
                when answers.received_date > listings.received_date and listings.n_hidden_last >= answers.n_unread
                    then answers.first_answer_at
            end
        ) as proof_after_at
    from {{ ref('status_listings') }} as listings
    left join {{ ref('status_answers') }} as answers
        on
            listings.operator = answers.operator
            and answers.category_asked in ('', listings.category)
            and (listings.proof_before_at is null or listings.proof_after_at is null)
    group by listings.operator, listings.received_date, listings.listing_key, listings.first_seen_at
),

listings as (
    select
        listings.* {{ exclude("proof_before_at, proof_after_at") }},
        coalesce(listings.proof_before_at, completed.proof_before_at) as absent_before_at,
        coalesce(listings.proof_after_at, completed.proof_after_at) as absent_after_at,
        line_keys(listings.lines) as line_keys,
        message_words(listings.message) as message_words,
        row_number() over (
            partition by listings.operator
            order by listings.first_seen_at, listings.received_date, listings.listing_key
        ) as listing_number
    from {{ ref('status_listings') }} as listings
    inner join completed using (operator, received_date, listing_key, first_seen_at)
),

followed as (
    -- each listing with the days on which its successor may have come: pairs are looked for day by day
    select
        listings.*,
        {{ followed_by }} as followed_by,
        days.received_date as followed_on
    from listings
    {{ join_rules('listings.last_service_date') }}
    inner join (
        select distinct
            operator,
            received_date
        from {{ ref('status_listings') }}
    ) as days
        on
            listings.operator = days.operator
            and listings.received_date <= days.received_date
            and coalesce({{ followed_by }} >= cast(days.received_date as timestamp), true)
),

alike as (
    select
        earlier.operator,
        earlier.listing_number as earlier_number,
        later.listing_number as later_number,
        seconds_between(earlier.last_seen_at, later.first_seen_at) as gap_seconds,
        case when earlier.listing_key = later.listing_key then 4 else 0 end
        + case when earlier.started_at = later.started_at then 2 else 0 end
        + case when {{ lines_in_common }} then 1 else 0 end
        + {{ likeness_of_texts }} as likeness,
        earlier.listing_key = later.listing_key
        or {{ lines_in_common }}
        and (
            coalesce(earlier.started_at = later.started_at, false)
            or {{ likeness_of_texts }} >= parameters.edit_likeness
        )
        or coalesce(earlier.absent_after_at >= later.first_seen_at, true)
        and (
            coalesce(earlier.started_at = later.started_at, false)
            and {{ likeness_of_texts }} >= parameters.same_start_likeness
            or coalesce(cardinality(earlier.lines), 0) = 0 and coalesce(cardinality(later.lines), 0) = 0
            and {{ likeness_of_texts }} >= parameters.edit_likeness
        ) as is_alike
    from followed as earlier
    cross join {{ ref('inference_parameters') }} as parameters
    inner join listings as later
        on
            earlier.operator = later.operator
            and earlier.followed_on = later.received_date
            and earlier.category is not distinct from later.category
            and earlier.last_seen_at < later.first_seen_at
            and coalesce(later.first_seen_at <= earlier.followed_by, true)
),

starts as (
    -- for each listing, in their order, the one that its episode begins with
    select
        operator,
        {{ chain_starts('earlier_number', 'later_number', 'pair_number') }} as first_numbers
    from (
        select
            operator,
            earlier_number,
            later_number,
            is_alike,
            row_number() over (
                partition by operator
                order by is_alike desc, likeness desc, gap_seconds, later_number, earlier_number desc
            ) as pair_number
        from alike
    ) as pairs
    -- not before they are numbered: an engine would compare the texts of all listings, not of those that are near
    where is_alike
    group by operator
),

roots as (
    {{ numbered_elements('starts', ['operator'], 'first_numbers', 'root_number', 'listing_number') }}
),

chains as (
    select
        listings.* {{ exclude("line_keys, message_words") }},
        {{ root_number }} as root_number,
        row_number() over chain as version_number,
        lag(listings.absent_after_at) over chain < listings.first_seen_at as is_after_gap,
        lag(listings.last_seen_at) over chain as previous_seen_at,
        lead(listings.first_seen_at) over chain as next_seen_at,
        first_value(listings.started_at) over (
            partition by listings.operator, {{ root_number }}, listings.started_text
            order by listings.first_seen_at, listings.listing_number
        ) as first_read_start_at
    from listings
    left join roots on listings.operator = roots.operator and listings.listing_number = roots.listing_number
    window chain as (
        partition by listings.operator, {{ root_number }} order by listings.first_seen_at, listings.listing_number
    )
),

numbered as (
    select
        * {{ exclude("started_at, is_after_gap, first_read_start_at") }},
        first_read_start_at as started_at,
        coalesce(is_after_gap, false) as is_after_gap,
        first_value(listing_key) over chain as root_key,
        first_value(first_seen_at) over chain as root_seen_at
    from chains
    window chain as (partition by operator, root_number order by first_seen_at, listing_number)
),

episodes as (
    select
        *,
        dense_rank() over (partition by operator, root_key order by root_seen_at, root_number) as episode_number
    from numbered
)

select
    md5(concat_ws('|', key_part(operator), root_key, episode_number)) as episode_id,
    * {{ exclude("listing_number, root_number, absent_before_at") }},
    case when version_number = 1 or is_after_gap then absent_before_at end as absent_before_at
from episodes
