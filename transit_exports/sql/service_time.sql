-- The instants at which the first service date begins and the last ends.
select
    timezone('UTC', timezone(publication.timezone, $first + publication.service_day_cutoff)),
    timezone('UTC', timezone(publication.timezone, $last + 1 + publication.service_day_cutoff))
from quality.publication as publication
