asked as (
    -- from the cutoff of the first service date to that of the day after the last
    select
        min(days.zero_at) + to_seconds(epoch(publication.service_day_cutoff)) as from_at,
        max(days.zero_at) + to_days(1) + to_seconds(epoch(publication.service_day_cutoff)) as to_at
    from core.service_days as days
    cross join quality.publication as publication
    where days.service_date between $first and $last
    group by publication.service_day_cutoff
)
