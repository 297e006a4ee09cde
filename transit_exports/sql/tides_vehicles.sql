-- The one row that the rows of the other tables name: the interface tells no vehicle, and TIDES asks for one.
select
    'unknown' as vehicle_id,
    null as vehicle_start,
    null as vehicle_end,
    null as model_name,
    null as facility_name,
    null as capacity_seated,
    null as capacity_wheelchair,
    null as capacity_bike,
    null as bike_rack,
    null as capacity_standing
