"""The classes of Spark's expressions that are operators or functions of their children, and their forms in SQL.

Each function was compared with the examples in Spark's own documentation: the SQL that is written for it gives the same
values and types (`tests/spark/test_plan_functions.py`). Functions whose value depends on anything but their arguments
are not here.
"""

from __future__ import annotations

from typing import Final

__all__ = ["FUNCTIONS", "OPERATORS"]

OPERATORS: Final = {
    "Add": "+",
    "BitwiseAnd": "&",
    "BitwiseOr": "|",
    "BitwiseXor": "^",
    "DateAddYMInterval": "+",
    "Divide": "/",
    "EqualNullSafe": "<=>",
    "EqualTo": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "IntegralDivide": "DIV",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "Multiply": "*",
    "Remainder": "%",
    "Subtract": "-",
    "SubtractDates": "-",
    "SubtractTimestamps": "-",
    "TimestampAddInterval": "+",
    "TimestampAddYMInterval": "+",
}
"""The signs of operators by their class."""

_FUNCTIONS = """
Abs=abs Acos=acos Acosh=acosh AddMonths=add_months ArrayAggregate=aggregate ArrayAppend=array_append
ArrayContains=array_contains ArrayDistinct=array_distinct ArrayExcept=array_except ArrayExists=exists
ArrayFilter=filter ArrayForAll=forall ArrayInsert=array_insert ArrayIntersect=array_intersect ArrayJoin=array_join
ArrayMax=array_max ArrayMin=array_min ArrayPosition=array_position ArrayPrepend=array_prepend ArrayRemove=array_remove
ArrayRepeat=array_repeat ArraySort=array_sort ArrayTransform=transform ArrayUnion=array_union
ArraysOverlap=arrays_overlap Ascii=ascii Asin=asin Asinh=asinh Atan=atan Atan2=atan2 Atanh=atanh BRound=bround Bin=bin
BitLength=bit_length BitwiseCount=bit_count Cbrt=cbrt Ceil=ceil Chr=chr Coalesce=coalesce Concat=concat
ConcatWs=concat_ws Contains=contains Conv=conv Cos=cos Cosh=cosh Cot=cot Crc32=crc32 CreateArray=array CreateMap=map
CreateNamedStruct=named_struct Csc=csc DateAdd=date_add DateDiff=datediff DateFormatClass=date_format
DateFromUnixDate=date_from_unix_date DateSub=date_sub DayName=dayname DayOfMonth=day DayOfWeek=dayofweek
DayOfYear=dayofyear ElementAt=element_at Elt=elt Encode=encode EndsWith=endswith EulerNumber=e Exp=exp Expm1=expm1
Factorial=factorial FindInSet=find_in_set Flatten=flatten Floor=floor FormatNumber=format_number
FormatString=format_string FromUTCTimestamp=from_utc_timestamp FromUnixTime=from_unixtime
GetJsonObject=get_json_object Greatest=greatest Hex=hex Hour=hour Hypot=hypot If=if InitCap=initcap IsNaN=isnan
LastDay=last_day Least=least Length=length Levenshtein=levenshtein Log=ln Log10=log10 Log1p=log1p Log2=log2
Logarithm=log Lower=lower MakeDate=make_date MapConcat=map_concat MapEntries=map_entries MapFilter=map_filter
MapFromArrays=map_from_arrays MapFromEntries=map_from_entries MapKeys=map_keys MapValues=map_values
MapZipWith=map_zip_with Md5=md5 MicrosToTimestamp=timestamp_micros MillisToTimestamp=timestamp_millis Minute=minute
Month=month MonthName=monthname MonthsBetween=months_between Murmur3Hash=hash NaNvl=nanvl NextDay=next_day
OctetLength=octet_length Overlay=overlay ParseToDate=to_date Pi=pi Pmod=pmod Pow=pow Quarter=quarter
RegExpExtract=regexp_extract RegExpExtractAll=regexp_extract_all RegExpInStr=regexp_instr RegExpReplace=regexp_replace
Reverse=reverse Rint=rint Round=round RoundCeil=ceil RoundFloor=floor Sec=sec Second=second
SecondsToTimestamp=timestamp_seconds Sequence=sequence Sha1=sha1 Sha2=sha2 ShiftLeft=shiftleft ShiftRight=shiftright
ShiftRightUnsigned=shiftrightunsigned Signum=signum Sin=sin Sinh=sinh Size=size Slice=slice SortArray=sort_array
SoundEx=soundex Sqrt=sqrt StartsWith=startswith StringInstr=instr StringLPad=lpad StringLocate=locate StringRPad=rpad
StringRepeat=repeat StringReplace=replace StringSpace=space StringSplit=split StringToMap=str_to_map
StringTranslate=translate Substring=substring SubstringIndex=substring_index Tan=tan Tanh=tanh ToDegrees=degrees
ToRadians=radians ToUTCTimestamp=to_utc_timestamp TransformKeys=transform_keys TransformValues=transform_values
TruncDate=trunc TruncTimestamp=date_trunc UnBase64=unbase64 Unhex=unhex UnixMicros=unix_micros UnixMillis=unix_millis
UnixSeconds=unix_seconds Upper=upper WeekDay=weekday WeekOfYear=weekofyear WidthBucket=width_bucket XxHash64=xxhash64
Year=year ZipWith=zip_with
"""

FUNCTIONS: Final[dict[str, str]] = dict(item.split("=") for item in _FUNCTIONS.split())
"""The names of functions by their class; the arguments are the children."""
